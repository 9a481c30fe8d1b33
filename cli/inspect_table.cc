#include "cli/inspect_table.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/align.h"
#include "cli/common.h"
#include "cli/table_facts.h"
#include "fathom/base/text.h"
#include "fathom/data/written_date.h"
#include "fathom/io/json_text.h"
#include "fathom/io/json_value.h"

namespace fathom::cli {

namespace {

using Json = nlohmann::ordered_json;
using internal::DateText;

// " 'house' 60, 'flat' 40, ..."
std::string MostFrequent(const std::vector<Level>& levels) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, levels.size()); ++i)
    text += (i == 0 ? " " : ", ") + Quoted(levels[i].text) + " " + std::to_string(levels[i].rows);
  return text + (levels.size() > kShown ? ", ..." : "");
}

std::string LevelText(const std::vector<Level>& levels) {
  return std::to_string(levels.size()) + (levels.size() == 1 ? " value:" : " values:") +
         MostFrequent(levels);
}

std::string RemarkOn(const ColumnFacts& column) {
  std::string remark;
  if (std::strcmp(column.role, "input") != 0) remark = column.role;
  if (column.constant) remark = remark.empty() ? "constant" : remark + ", constant";
  if (!column.levels.empty()) remark += (remark.empty() ? "" : ", ") + LevelText(column.levels);
  if (!column.missing_words.empty())
    remark += (remark.empty() ? "missing:" : ", missing:") + MostFrequent(column.missing_words);
  if (column.problem.empty()) return remark;
  return remark + (remark.empty() ? "(problem)" : " (problem)");
}

std::string ProposalText(const TableFacts& facts) {
  std::string text;
  if (!facts.proposal.empty()) text += "try         " + facts.proposal + "\n";
  const LikelyTarget& kind = facts.target_kind;
  if (!facts.alternative.empty()) {
    text += "target      " + kind.meaning + ": try\n            " + facts.alternative + "\n";
  } else if (!kind.meaning.empty() && kind.options.empty()) {
    text += "target      " + kind.meaning + "\n";
  }
  return text;
}

std::string PlanText(const TableFacts& facts) {
  const FitPlan& plan = facts.plan;
  std::string text;
  for (const TableFault& fault : facts.faults) {
    text += "problem     " + facts.source + ": " +
            (fault.column.empty() ? "" : "column " + Quoted(fault.column) + ": ") + fault.text +
            "\n";
  }
  for (const ColumnFacts& column : facts.columns) {
    if (!column.problem.empty()) text += "problem     " + column.problem + "\n";
  }
  for (const Note& note : plan.notes) text += "note        " + note.text + "\n";
  if (!plan.refusal.empty()) {
    const bool told = text.find(plan.refusal) != std::string::npos;
    return text + "fit         would refuse it" + (told ? "" : ": " + plan.refusal) + "\n" +
           ProposalText(facts);
  }
  if (plan.schema.targets.empty())
    return text + "fit         needs to know what to predict: --target NAME\n";
  const std::size_t classes = plan.schema.classes.size();
  text += "fit         would learn " + QuotedList(plan.schema.targets) +
          (classes == 0 ? "" : " in " + std::to_string(classes) + " classes") + " from " +
          std::to_string(plan.schema.inputs.size()) + " columns, " +
          std::to_string(plan.schema.width()) + " numbers per row, in " +
          std::to_string(plan.rows) + " rows\n";
  return text + ProposalText(facts);
}

std::string HumanTable(const TableFacts& facts) {
  std::vector<std::vector<std::string>> rows = {
      {"column", "type", "missing", "min", "mean", "max", "corr", "remarks"}};
  const auto number = [](double value) { return std::isnan(value) ? "-" : Short(value); };
  if (facts.columns.empty()) return "table       " + facts.source + "\n\n" + PlanText(facts);
  for (const ColumnFacts& column : facts.columns) {
    const bool date = column.type == "date";
    const auto shown = [&](double value) {
      return date && !std::isnan(value) ? DateText(value) : number(value);
    };
    char correlation[16] = "-";
    if (!std::isnan(column.correlation))
      std::snprintf(correlation, sizeof(correlation), "%.2f", column.correlation);
    rows.push_back({Visible(column.name), Visible(column.type), std::to_string(column.missing),
                    shown(column.min), shown(column.mean), shown(column.max), correlation,
                    RemarkOn(column)});
  }
  std::string text = "table       " + facts.source + "\nrows        " + std::to_string(facts.rows) +
                     "\ncolumns     " + std::to_string(facts.columns.size());
  if (!facts.left_out.empty()) text += "; ignored: " + QuotedList(facts.left_out);
  return text + "\n\n" + Align(rows) + "\n" + PlanText(facts);
}

Json JsonColumn(const ColumnFacts& column) {
  Json json = {{"name", column.name},
               {"type", column.type},
               {"role", column.role},
               {"missing", column.missing},
               {"constant", column.constant}};
  if (column.type != "text" && column.type != "empty" && column.type != "bits") {
    json["min"] = ToJson(column.min);
    json["mean"] = ToJson(column.mean);
    json["max"] = ToJson(column.max);
    json["correlation"] = ToJson(column.correlation);
  }
  if (!column.levels.empty()) {
    json["levels"] = Json::array();
    for (const Level& level : column.levels)
      json["levels"].push_back({{"text", level.text}, {"rows", level.rows}});
  }
  if (!column.missing_words.empty()) {
    json["missing_words"] = Json::array();
    for (const Level& word : column.missing_words)
      json["missing_words"].push_back({{"text", word.text}, {"rows", word.rows}});
  }
  json["problem"] = column.problem.empty() ? Json() : Json(column.problem);
  return json;
}

std::string JsonTable(const TableFacts& facts) {
  Json json = {{"kind", "table"}, {"file", facts.source}, {"rows", facts.rows}};
  json["columns"] = Json::array();
  for (const ColumnFacts& column : facts.columns) json["columns"].push_back(JsonColumn(column));
  json["ignored"] = facts.left_out;
  json["faults"] = Json::array();
  for (const TableFault& fault : facts.faults) {
    json["faults"].push_back({{"column", fault.column.empty() ? Json() : Json(fault.column)},
                              {"text", fault.text},
                              {"count", fault.count},
                              {"words", fault.words}});
  }
  const FitPlan& plan = facts.plan;
  json["fit"] = {{"refusal", plan.refusal.empty() ? Json() : Json(plan.refusal)},
                 {"targets", plan.schema.targets},
                 {"classes", plan.schema.classes},
                 {"inputs", plan.schema.FeatureNames()},
                 {"rows", plan.rows},
                 {"notes", NotesJson(plan.notes)},
                 {"command", facts.proposal.empty() ? Json() : Json(facts.proposal)}};
  if (!facts.proposal.empty()) json["fit"]["target_kind"] = facts.target_kind.name;
  if (!facts.alternative.empty()) json["fit"]["alternative"] = facts.alternative;
  // A string that is not UTF-8 is one of the problems, and must not hide the others.
  return JsonText(json, 2, NotUtf8::kReplace) + "\n";
}

}  // namespace

bool LooksLikeModel(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;  // a pipe is read only once
  std::ifstream file(path, std::ios::binary);
  char start[9];
  if (!file.read(start, sizeof(start))) return false;
  // A model begins with the length of a JSON header and its first brace. No text has zero bytes.
  std::uint64_t length = 0;
  std::memcpy(&length, start, sizeof(length));
  return start[8] == '{' && length < (std::uint64_t{1} << 32);
}

int InspectTable(const DataOptions& options, bool json) {
  const TableFacts facts = FindTableFacts(options);
  WriteOut(json ? JsonTable(facts) : HumanTable(facts));
  return facts.plan.refusal.empty() ? kGood : kBadInput;
}

}  // namespace fathom::cli
