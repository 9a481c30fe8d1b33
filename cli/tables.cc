#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/common.h"
#include "cli/published.h"
#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/io/atomic_file.h"
#include "study/rank_diagram.h"
#include "study/results_file.h"
#include "study/score_figure.h"
#include "study/table_json.h"
#include "study/table_text.h"

namespace fathom::cli {

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* kExample =
    "Examples:\n"
    "  fathom tables results/uci\n"
    "  fathom tables results/uci --methods dgp --out ranks                   the default alone "
    "against others\n"
    "  fathom tables results/uci results/uci_grid --out pictures             both side by side\n\n"
    "Reads DIR/results.jsonl, which 'fathom bench' writes, and prints tables of each score in "
    "Markdown: mean and\nstandard error over splits, average ranks with Friedman's and Nemenyi's "
    "tests, what others have published, worst\nsplits, coverage, time and failures. Writes them "
    "to OUT/tables.md, each table to OUT/SCORE.csv and details.csv, and to\nOUT/SCORE.svg and "
    "OUT/SCORE_ranks.svg a "
    "figure with error bars and a critical-difference diagram.";

struct TablesOptions {
  std::vector<std::string> folders, methods;
  std::string out;
  bool only_ours = false, json = false;
};

std::vector<UnitRecord> ReadAll(const std::vector<std::string>& folders) {
  std::vector<UnitRecord> records;
  std::set<UnitKey> keys;
  for (const std::string& folder : folders) {
    const std::vector<UnitRecord> here = ReadResults(folder);
    if (here.empty())
      ThrowError(folder, ": holds no results; run 'fathom bench STUDY --out ", folder, "' first");
    for (const UnitRecord& record : here) {
      if (!keys.insert(record.key()).second)
        ThrowError(folder, ": has results of method ", Quoted(record.method),
                   " that another folder has too; name only one of them");
      records.push_back(record);
    }
  }
  return records;
}

void KeepMethods(const std::vector<std::string>& wanted, std::vector<UnitRecord>* records) {
  if (wanted.empty()) return;
  std::set<std::string> unique;
  for (const UnitRecord& record : *records) unique.insert(record.method);
  const std::vector<std::string> known(unique.begin(), unique.end());
  for (const std::string& name : wanted) {
    if (!unique.contains(name))
      ThrowError("--methods: there are no results of ", Quoted(name), DidYouMean(name, known),
                 " the methods are ", QuotedList(known, 50));
  }
  std::erase_if(*records, [&](const UnitRecord& record) {
    return std::count(wanted.begin(), wanted.end(), record.method) == 0;
  });
}

// Writes files into a folder, which it makes if need be, and remembers which.
class Files {
 public:
  explicit Files(fs::path folder) : folder_(std::move(folder)) {
    std::error_code problem;
    fs::create_directories(folder_, problem);
    if (problem) ThrowError(folder_.string(), ": cannot make the folder: ", problem.message());
  }

  void Write(const std::string& name, const std::string& text) {
    written_.push_back((folder_ / name).string());
    const std::string_view whole = text;
    WriteFileAtomically(written_.back(), {&whole, 1});
  }
  const std::vector<std::string>& written() const { return written_; }

 private:
  fs::path folder_;
  std::vector<std::string> written_;
};

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

int RunTables(const TablesOptions& options) {
  std::vector<UnitRecord> results = ReadAll(options.folders);
  KeepMethods(SplitLists(options.methods), &results);
  Files files(options.out.empty() ? options.folders.front() : options.out);
  const std::vector<PublishedMethod> published =
      options.only_ours ? std::vector<PublishedMethod>() : LoadPublished();
  std::string text;
  Json scores = Json::array();
  for (const ScoreKind* kind : TabledScores()) {
    const std::string key = kind->study_key;
    if (!HasScore(results, *kind)) continue;
    const ScoreTable table = MakeScoreTable(results, published, *kind);
    text += "## " + std::string(kind->heading) + "\n\n" + MarkdownTable(table) + "\n";
    scores.push_back(ScoreTableJson(table));
    files.Write(key + ".csv", CsvTable(table));
    files.Write(key + ".svg", ScoreFigure(table));
    if (const std::optional<TableRanks> ranks = RankTable(table))
      files.Write(key + "_ranks.svg", RankDiagram(table, *ranks));
  }
  const std::vector<UnitSummary> units = SummarizeUnits(results);
  text += "## Coverage, worst splits and cost\n\n" + MarkdownMethods(units) +
          "\nMeans over splits; CPU and memory of one unit on one core.\n\n" +
          MarkdownDetails(units);
  files.Write("details.csv", CsvDetails(units));
  const std::string failures = MarkdownFailures(results);
  if (!failures.empty()) text += "\n## Failures\n\n" + failures;
  const std::string mixed = MixedSettings(results);
  if (!mixed.empty()) text += "\n## Mixed settings\n\n" + mixed;
  files.Write("tables.md", text);
  if (options.json) {
    const Json report = {{"files", files.written()},
                         {"scores", scores},
                         {"details", DetailsJson(units)},
                         {"failures", FailuresJson(results)}};
    WriteOut(report.dump(2) + "\n");
  } else {
    WriteOut(text);
  }
  return kGood;
}

}  // namespace

Command AddTables(CLI::App* program) {
  CLI::App* app =
      program->add_subcommand("tables", "Make tables and figures of the results of studies");
  app->footer(kExample);
  const auto options = std::make_shared<TablesOptions>();
  app->add_option("DIR", options->folders, "Folder that 'fathom bench' has written to")
      ->required()
      ->type_name("");
  app->add_option("--out", options->out, "Folder for the files; by default the first DIR")
      ->type_name("DIR");
  app->add_option("--methods", options->methods,
                  "Of ours, only these: several of a kind would take each other's ranks; repeat "
                  "it or give a,b")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false)
      ->type_name("NAME");
  app->add_flag("--only-ours", options->only_ours, "Leave out what others have published");
  app->add_flag("--json", options->json, "Print the tables as one JSON object");
  return {app, [options] { return RunTables(*options); }};
}

}  // namespace fathom::cli
