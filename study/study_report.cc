#include "study/study_report.h"

#include <algorithm>
#include <map>
#include <set>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "study/rank_diagram.h"
#include "study/results_file.h"
#include "study/score_figure.h"
#include "study/table_json.h"
#include "study/table_text.h"

namespace fathom {

namespace {

using Json = nlohmann::ordered_json;

// A line for each method whose results were not all made with one recipe.
std::string MixedSettings(const std::vector<UnitRecord>& records) {
  std::map<std::string, nlohmann::json> first;
  std::map<std::string, std::string> mixed;
  for (const UnitRecord& record : records) {
    const nlohmann::json settings = SettingsOf(record);
    const auto [known, is_new] = first.emplace(record.method, settings);
    if (!is_new && settings != known->second)
      mixed.emplace(record.method, FirstDifference(known->second, settings));
  }
  std::string text;
  for (const auto& [method, setting] : mixed)
    text += "- " + method + ": not all of its results have the same " + Quoted(setting) + "\n";
  return text;
}

bool HasScore(const std::vector<UnitRecord>& records, const ScoreKind& kind) {
  return std::any_of(records.begin(), records.end(),
                     [&](const UnitRecord& record) { return record.Has(kind); });
}

// Adds the figure of one score and the diagram of its ranks.
void AddFigures(const ScoreTable& table, const std::string& name, StudyReport* report) {
  report->files.push_back({name + ".svg", ScoreFigure(table)});
  if (const std::optional<TableRanks> ranks = RankTable(table))
    report->files.push_back({name + "_ranks.svg", RankDiagram(table, *ranks)});
}

// Adds the table, the figure and the ranks of one score, for all methods and for each group.
void AddScore(const ScoreTable& table, const std::vector<MethodGroup>& groups,
              StudyReport* report) {
  const std::string key = table.kind.study_key;
  const std::string heading(table.kind.heading);
  report->markdown += "## " + heading + "\n\n" + MarkdownTable(table) + "\n";
  report->json["scores"].push_back(ScoreTableJson(table));
  report->files.push_back({key + ".csv", CsvTable(table)});
  AddFigures(table, key, report);
  for (const MethodGroup& group : groups) {
    const ScoreTable part = OnlyColumns(table, group.methods);
    if (part.columns.empty()) continue;
    report->markdown += "### " + heading + ": " + group.name + "\n\n" + MarkdownTable(part) + "\n";
    AddFigures(part, key + "_" + group.name, report);
  }
}

}  // namespace

std::vector<UnitRecord> ReadAllResults(const std::vector<std::string>& folders) {
  std::vector<UnitRecord> records;
  std::set<UnitKey> keys;
  for (const std::string& folder : folders) {
    const std::vector<UnitRecord> here = ReadResults(folder);
    if (here.empty()) ThrowError(folder, ": holds no results; run a study into it first");
    for (const UnitRecord& record : here) {
      if (!keys.insert(record.key()).second)
        ThrowError(folder, ": has results of method ", Quoted(record.method),
                   " that another folder has too; name only one of them");
      records.push_back(record);
    }
  }
  return records;
}

StudyReport MakeStudyReport(const std::vector<UnitRecord>& records,
                            const std::vector<PublishedMethod>& published,
                            const std::vector<MethodGroup>& groups) {
  StudyReport report;
  report.json["scores"] = Json::array();
  for (const ScoreKind* kind : TabledScores()) {
    if (HasScore(records, *kind))
      AddScore(MakeScoreTable(records, published, *kind), groups, &report);
  }
  const std::vector<UnitSummary> units = SummarizeUnits(records);
  report.markdown += "## Coverage, worst splits and cost\n\n" + MarkdownMethods(units) +
                     "\nMeans over splits; CPU and memory of one unit on one core.\n\n" +
                     MarkdownDetails(units);
  report.files.push_back({"details.csv", CsvDetails(units)});
  const std::string failures = MarkdownFailures(records);
  if (!failures.empty()) report.markdown += "\n## Failures\n\n" + failures;
  const std::string mixed = MixedSettings(records);
  if (!mixed.empty()) report.markdown += "\n## Mixed settings\n\n" + mixed;
  report.files.push_back({"tables.md", report.markdown});
  report.json["details"] = DetailsJson(units);
  report.json["failures"] = FailuresJson(records);
  return report;
}

}  // namespace fathom
