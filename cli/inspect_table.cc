#include "cli/inspect_table.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/align.h"
#include "cli/common.h"
#include "cli/target_kind.h"
#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/data/table_faults.h"
#include "fathom/data/table_parts.h"
#include "fathom/data/written_date.h"
#include "fathom/io/json_value.h"

namespace fathom::cli {

namespace {

using Json = nlohmann::ordered_json;
using internal::DateText;

struct Level {
  std::string text;
  Index rows = 0;
};

struct ColumnFacts {
  std::string name;
  std::string type = "empty";  // or "number", "text", "date", "time" or its unit, such as "kg"
  const char* role = "input";  // or "target" or "weights"
  Index missing = 0;
  double min = std::nan(""), mean = std::nan(""), max = std::nan("");  // of numbers
  std::vector<Level> levels = {};                                      // of strings, the most first
  bool constant = false;
  double correlation = std::nan("");  // with the first target, if both are numbers
  std::string problem = {};           // why fit would refuse it as an input; empty: it would not
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
  std::vector<TableFault> faults;
  std::string proposal;      // the command line that would work; empty: none is known
  LikelyTarget target_kind;  // where there is a proposal
  std::string alternative;   // the command line for that kind; empty: the proposal
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
  const CellFormat format = table.FormatOf(c);
  if (!table.LevelsOf(c).empty()) {
    facts.type = "text";
    facts.levels = CountLevels(table, c);
    facts.constant = facts.levels.size() == 1;
  } else if (known > 0) {
    facts.type = format.kind == CellFormat::Kind::kDate   ? "date"
                 : format.kind == CellFormat::Kind::kTime ? "time"
                 : format.affix.empty()                   ? "number"
                                                          : format.affix;
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

double Correlation(const Table& table, Index a, Index b) {
  const bool numbers = table.LevelsOf(a).empty() && table.LevelsOf(b).empty();
  if (!numbers || a == b) return std::nan("");
  const auto both = (table.values.col(a) + table.values.col(b)).array().isFinite();
  const auto count = static_cast<double>(both.count());
  const auto centred = [&](Index c) {
    const auto column = table.values.col(c).array();
    const double mean = both.select(column, 0.0).sum() / count;
    return Eigen::ArrayXd(both.select(column - mean, 0.0));
  };
  const Eigen::ArrayXd x = centred(a), y = centred(b);
  const double scale = std::sqrt(x.square().sum()) * std::sqrt(y.square().sum());
  return scale > 0 ? (x * y).sum() / scale : std::nan("");
}

void AddCorrelations(const Table& table, const Roles& roles, std::vector<ColumnFacts>* columns) {
  if (roles.targets.empty()) return;
  const Index target = FindColumn(table, roles.targets.front());
  for (std::size_t c = 0; c < columns->size(); ++c)
    (*columns)[c].correlation = Correlation(table, static_cast<Index>(c), target);
}

// The facts of a table whose lines are whole; cells that are no numbers count as missing.
void AddColumns(const DataOptions& options, const FileBytes& file, TableFacts* facts) {
  const Roles roles = RolesOf(options);
  ReadOptions reading = ReadingFor(roles, ReadingOf(options, /*threads=*/0));
  reading.faulty_cells_are_missing = true;
  const Table table = ReadTable(file, reading);
  facts->rows = table.values.rows();
  facts->left_out = table.left_out;
  for (Index c = 0; c < table.values.cols(); ++c) facts->columns.push_back(FactsOf(table, c));
  for (const std::string& target : roles.targets)
    facts->columns[FindColumn(table, target)].role = "target";
  if (!roles.weights.empty()) facts->columns[FindColumn(table, roles.weights)].role = "weights";
  if (!table.index_column.empty())
    facts->columns[FindColumn(table, table.index_column)].role = "index";
  for (std::size_t c = 0; c < facts->columns.size(); ++c) {
    ColumnFacts& column = facts->columns[c];
    if (std::strcmp(column.role, "input") == 0)
      column.problem = ProblemOf(table, static_cast<Index>(c));
  }
  AddCorrelations(table, roles, &facts->columns);
  facts->plan = PlanFit(table, roles, ReadInputStd(options, /*threads=*/0));
}

// A word as a shell takes it for one.
std::string ShellWord(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("._-/+=:@%").find(c) != std::string_view::npos;
  });
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

// `more` are options of the recipe.
std::string CommandLine(const DataOptions& options, const std::string& more = {}) {
  std::string line = "fathom fit " + ShellWord(options.table);
  const auto add = [&](const char* option, const std::vector<std::string>& values) {
    for (const std::string& value : values)
      line += std::string(" ") + option + " " + ShellWord(value);
  };
  const auto add_one = [&](const char* option, const std::string& value, const char* usual) {
    if (value != usual) add(option, {value});
  };
  add("--target", options.targets);
  add("--ignore", options.ignore);
  add("--categorical", options.categorical);
  add("--missing", options.missing);
  add("--input-std", options.input_std);
  add_one("--task", options.task, "auto");
  add_one("--weights", options.weights, "");
  add_one("--separator", options.separator, "");
  add_one("--decimal", options.decimal, "auto");
  add_one("--dates", options.dates, "auto");
  if (options.counts) line += " --counts";
  if (options.header) line += " --header";
  if (options.no_header) line += " --no-header";
  return line + more + " -o " +
         ShellWord(std::filesystem::path(options.table).stem().string() + ".fathom");
}

// Finds the options with which fit would take the table, if leaving columns out and declaring words
// to be missing is enough.
void Propose(DataOptions options, const FileBytes& file, TableFacts* facts) {
  for (const ColumnFacts& column : facts->columns) {
    if (!column.problem.empty()) options.ignore.push_back(column.name);
  }
  for (const TableFault& fault : facts->faults) {
    const bool ignored = std::count(options.ignore.begin(), options.ignore.end(), fault.column) > 0;
    if (!ignored)
      options.missing.insert(options.missing.end(), fault.words.begin(), fault.words.end());
  }
  std::sort(options.missing.begin(), options.missing.end());
  options.missing.erase(std::unique(options.missing.begin(), options.missing.end()),
                        options.missing.end());
  try {
    const Roles roles = RolesOf(options);
    const ReadOptions reading = ReadingFor(roles, ReadingOf(options, /*threads=*/0));
    facts->target_kind = KindOfTarget(
        MakeDataset(ReadTable(file, reading), roles, ReadInputStd(options, /*threads=*/0)));
  } catch (const Error&) {
    return;
  }
  facts->proposal = CommandLine(options);
  const std::string& more = facts->target_kind.options;
  if (options.task == "auto" && !more.empty()) facts->alternative = CommandLine(options, more);
}

TableFacts FactsOf(const DataOptions& options) {
  const FileBytes file = OpenTable(options.table, ReadingOf(options, /*threads=*/0));
  TableFacts facts;
  facts.source = file.name();
  facts.faults = FindFaults(file, ReadingFor(RolesOf(options), ReadingOf(options, /*threads=*/0)));
  const bool whole_lines = std::none_of(
      facts.faults.begin(), facts.faults.end(),
      [](const TableFault& fault) { return fault.column.empty() || fault.words.empty(); });
  if (!whole_lines) {
    facts.plan.refusal = facts.source + ": its lines or quotes are broken; mend them first";
    return facts;
  }
  AddColumns(options, file, &facts);
  const bool has_target = !options.targets.empty();
  if (!facts.faults.empty() && has_target && facts.plan.refusal.empty())
    facts.plan.refusal = facts.source + ": some cells are no numbers";
  if (has_target && options.table != "-") Propose(options, file, &facts);
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

std::string ProposalText(const TableFacts& facts) {
  std::string text;
  if (!facts.proposal.empty()) text += "try         " + facts.proposal + "\n";
  if (!facts.alternative.empty()) {
    text += "target      " + facts.target_kind.meaning + ": try\n            " + facts.alternative +
            "\n";
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
  if (column.type != "text" && column.type != "empty") {
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

int InspectTable(const DataOptions& options, bool json) {
  const TableFacts facts = FactsOf(options);
  WriteOut(json ? JsonTable(facts) : HumanTable(facts));
  return facts.plan.refusal.empty() ? kGood : kBadInput;
}

}  // namespace fathom::cli
