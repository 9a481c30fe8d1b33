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
#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/io/json_value.h"

namespace fathom::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Level {
  std::string text;
  Index rows = 0;
};

struct ColumnFacts {
  std::string name;
  const char* type = "empty";  // or "number" or "text"
  const char* role = "input";  // or "target" or "weights"
  Index missing = 0;
  double min = std::nan(""), mean = std::nan(""), max = std::nan("");  // of numbers
  std::vector<Level> levels = {};                                      // of strings, the most first
  bool constant = false;
  std::string problem = {};  // why fit would refuse it as an input; empty: it would not
};

// What fit would do, or why it would refuse.
struct FitPlan {
  Schema schema;
  Index rows = 0;
  std::vector<Note> notes;
  std::string refusal;
};

struct TableFacts {
  std::string source;
  Index rows = 0;
  std::vector<ColumnFacts> columns;
  std::vector<std::string> left_out;  // by --ignore
  FitPlan plan;
};

std::vector<Level> CountLevels(const Table& table, Index c) {
  std::vector<Level> levels;
  for (const std::string& text : table.LevelsOf(c)) levels.push_back({text});
  for (Index n = 0; n < table.values.rows(); ++n) {
    const double code = table.values(n, c);
    if (!std::isnan(code)) ++levels[static_cast<std::size_t>(code)].rows;
  }
  std::stable_sort(levels.begin(), levels.end(),
                   [](const Level& a, const Level& b) { return a.rows > b.rows; });
  return levels;
}

// Why the column alone could not be an input; a column that does not vary is no problem.
std::string ProblemOf(const Table& table, Index c) {
  Table alone{.source = table.source, .columns = {table.columns[c]}, .values = table.values.col(c)};
  if (!table.levels.empty()) alone.levels = {table.levels[c]};
  std::vector<Note> notes;
  try {
    MakeSchema(alone, {}, &notes);
  } catch (const Error& error) {
    if (notes.empty()) return WithOptions(error);
  }
  return {};
}

ColumnFacts FactsOf(const Table& table, Index c) {
  ColumnFacts facts{.name = table.columns[c]};
  const auto values = table.values.col(c).array();
  facts.missing = values.isNaN().count();
  const Index known = values.size() - facts.missing;
  if (!table.LevelsOf(c).empty()) {
    facts.type = "text";
    facts.levels = CountLevels(table, c);
    facts.constant = facts.levels.size() == 1;
  } else if (known > 0) {
    facts.type = "number";
    const auto zero_if_missing = values.isNaN().select(0.0, values);
    facts.mean = zero_if_missing.sum() / static_cast<double>(known);
    facts.min = values.minCoeff<Eigen::PropagateNumbers>();
    facts.max = values.maxCoeff<Eigen::PropagateNumbers>();
    facts.constant = facts.min == facts.max;
  }
  return facts;
}

FitPlan PlanFit(const Table& table, const Roles& roles, const InputStd& std) {
  FitPlan plan;
  try {
    if (roles.targets.empty()) {
      plan.schema = MakeSchema(table, roles, &plan.notes);
      plan.rows = table.values.rows();
    } else {
      const Dataset dataset = MakeDataset(table, roles, std);
      plan.schema = dataset.schema();
      plan.rows = dataset.rows();
      plan.notes = dataset.notes();
    }
  } catch (const Error& error) {
    plan.refusal = WithOptions(error);
  }
  return plan;
}

TableFacts FactsOf(const DataOptions& options) {
  const Roles roles = RolesOf(options);
  const Table table = ReadTableFor(options, roles, /*threads=*/0);
  TableFacts facts;
  facts.source = table.source;
  facts.rows = table.values.rows();
  facts.left_out = table.left_out;
  for (Index c = 0; c < table.values.cols(); ++c) facts.columns.push_back(FactsOf(table, c));
  for (const std::string& target : roles.targets)
    facts.columns[FindColumn(table, target)].role = "target";
  if (!roles.weights.empty()) facts.columns[FindColumn(table, roles.weights)].role = "weights";
  for (std::size_t c = 0; c < facts.columns.size(); ++c) {
    ColumnFacts& column = facts.columns[c];
    if (std::strcmp(column.role, "input") == 0)
      column.problem = ProblemOf(table, static_cast<Index>(c));
  }
  facts.plan = PlanFit(table, roles, ReadInputStd(options, /*threads=*/0));
  return facts;
}

// "3 texts: house (60), flat (40), ..."
std::string LevelText(const std::vector<Level>& levels) {
  constexpr std::size_t kShown = 3;
  std::string text = std::to_string(levels.size()) + (levels.size() == 1 ? " text:" : " texts:");
  for (std::size_t i = 0; i < std::min(kShown, levels.size()); ++i)
    text += (i == 0 ? " " : ", ") + Quoted(levels[i].text) + " " + std::to_string(levels[i].rows);
  return text + (levels.size() > kShown ? ", ..." : "");
}

std::string RemarkOn(const ColumnFacts& column) {
  std::string remark;
  if (std::strcmp(column.role, "input") != 0) remark = column.role;
  if (column.constant) remark = remark.empty() ? "constant" : remark + ", constant";
  if (!column.levels.empty()) remark += (remark.empty() ? "" : ", ") + LevelText(column.levels);
  return column.problem.empty() ? remark : remark + " (problem)";
}

std::string PlanText(const TableFacts& facts) {
  const FitPlan& plan = facts.plan;
  std::string text;
  for (const ColumnFacts& column : facts.columns) {
    if (!column.problem.empty()) text += "problem     " + column.problem + "\n";
  }
  for (const Note& note : plan.notes) text += "note        " + note.text + "\n";
  if (!plan.refusal.empty()) {
    const bool told = text.find(plan.refusal) != std::string::npos;
    return text + "fit         would refuse it" + (told ? "" : ": " + plan.refusal) + "\n";
  }
  if (plan.schema.targets.empty())
    return text + "fit         needs to know what to predict: --target NAME\n";
  const std::size_t classes = plan.schema.classes.size();
  text += "fit         would learn " + QuotedList(plan.schema.targets) +
          (classes == 0 ? "" : " in " + std::to_string(classes) + " classes") + " from " +
          std::to_string(plan.schema.inputs.size()) + " columns, " +
          std::to_string(plan.schema.width()) + " numbers per row, in " +
          std::to_string(plan.rows) + " rows\n";
  return text;
}

std::string HumanTable(const TableFacts& facts) {
  std::vector<std::vector<std::string>> rows = {
      {"column", "type", "missing", "min", "mean", "max", "remarks"}};
  const auto number = [](double value) { return std::isnan(value) ? "-" : Short(value); };
  for (const ColumnFacts& column : facts.columns) {
    rows.push_back({column.name, column.type, std::to_string(column.missing), number(column.min),
                    number(column.mean), number(column.max), RemarkOn(column)});
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
  if (std::strcmp(column.type, "number") == 0) {
    json["min"] = ToJson(column.min);
    json["mean"] = ToJson(column.mean);
    json["max"] = ToJson(column.max);
  }
  if (!column.levels.empty()) {
    json["levels"] = Json::array();
    for (const Level& level : column.levels)
      json["levels"].push_back({{"text", level.text}, {"rows", level.rows}});
  }
  json["problem"] = column.problem.empty() ? Json() : Json(column.problem);
  return json;
}

std::string JsonTable(const TableFacts& facts) {
  Json json = {{"kind", "table"}, {"file", facts.source}, {"rows", facts.rows}};
  json["columns"] = Json::array();
  for (const ColumnFacts& column : facts.columns) json["columns"].push_back(JsonColumn(column));
  json["ignored"] = facts.left_out;
  const FitPlan& plan = facts.plan;
  json["fit"] = {{"refusal", plan.refusal.empty() ? Json() : Json(plan.refusal)},
                 {"targets", plan.schema.targets},
                 {"classes", plan.schema.classes},
                 {"inputs", plan.schema.FeatureNames()},
                 {"rows", plan.rows},
                 {"notes", NotesJson(plan.notes)}};
  // A text that is not UTF-8 is one of the problems, and must not keep the others from being told.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

bool LooksLikeModel(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;  // a pipe is read only once
  std::ifstream file(path, std::ios::binary);
  char start[9];
  if (!file.read(start, sizeof(start))) return false;
  // The length of a JSON header, and its first brace: no text has the zero bytes of the length.
  std::uint64_t length = 0;
  std::memcpy(&length, start, sizeof(length));
  return start[8] == '{' && length < (std::uint64_t{1} << 32);
}

std::string InspectTable(const DataOptions& options, bool json) {
  const TableFacts facts = FactsOf(options);
  return json ? JsonTable(facts) : HumanTable(facts);
}

}  // namespace fathom::cli
