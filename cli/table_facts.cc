#include "cli/table_facts.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <map>

#include "cli/common.h"
#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/data/bits.h"
#include "fathom/data/missing_words.h"
#include "fathom/data/table_parts.h"

namespace fathom::cli {

namespace {

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

// Whether the column alone would be an input, and if not, why; a column that does not vary, or that
// is left out for another reason, is no problem.
void JudgeAlone(const Table& table, Index c, ColumnFacts* column) {
  Table alone{.source = table.source, .columns = {table.columns[c]}, .values = table.values.col(c)};
  if (!table.levels.empty()) alone.levels = {table.levels[c]};
  std::vector<Note> notes;
  try {
    MakeSchema(alone, {}, &notes);
  } catch (const Error& error) {
    if (notes.empty()) column->problem = WithOptions(error);
  }
  const auto is_id = [](const Note& note) { return note.kind == "id_columns"; };
  if (std::any_of(notes.begin(), notes.end(), is_id)) column->role = "id";
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

// Notes on how the cells were read help even if fit would refuse the table.
void AddNotesUpToTheRefusal(const Table& table, const Roles& roles, std::vector<Note>* notes) {
  notes->clear();
  try {
    MakeSchema(table, roles, notes);
  } catch (const Error&) {
  }
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
    AddNotesUpToTheRefusal(table, roles, &plan.notes);
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

// How fit reads a table, but for the columns of bits.
ReadOptions ReadingWithoutBits(const DataOptions& options) {
  ReadOptions reading = ReadingFor(RolesOf(options), ReadingOf(options, /*threads=*/0));
  for (const BitColumn& column : BitsOf(options)) reading.ignore.push_back(column.name);
  return reading;
}

Table ReadWhole(const DataOptions& options, const FileBytes& file, bool faulty_cells_are_missing) {
  ReadOptions reading = ReadingFor(RolesOf(options), ReadingOf(options, /*threads=*/0));
  reading.faulty_cells_are_missing = faulty_cells_are_missing;
  return ReadTableWithBits(file, reading, BitsOf(options));
}

// A word such as "none" may have meant something else.
void AddMissingWords(const DataOptions& options, const FileBytes& file, ColumnFacts* column) {
  std::map<std::string, Index> rows;
  const ReadOptions reading = ReadingOf(options, 0);
  const internal::MissingWords words(reading.missing);
  const TextColumns text = ReadColumns(file, {column->name}, reading);
  for (const std::string& cell : text.cells.front()) {
    if (!cell.empty() && words.InNumbers(cell)) ++rows[cell];
  }
  for (const auto& [word, count] : rows) column->missing_words.push_back({word, count});
  std::stable_sort(column->missing_words.begin(), column->missing_words.end(),
                   [](const Level& a, const Level& b) { return a.rows > b.rows; });
}

// Columns that hold bits, by an option or, if they are a problem otherwise, by their looks.
void AddBits(const DataOptions& options, const FileBytes& file, TableFacts* facts) {
  for (const BitColumn& column : BitsOf(options)) {
    const std::string name = ReadColumns(file, {column.name}, ReadingOf(options, 0)).names.front();
    facts->columns.push_back({.name = name, .type = "bits"});
    std::erase(facts->left_out, name);
  }
  for (ColumnFacts& column : facts->columns) {
    // No meaningful number has so many digits.
    constexpr double kTooLarge = 1e15;
    const bool candidate = !column.levels.empty() || column.max >= kTooLarge;
    if (!candidate || std::strcmp(column.role, "input") != 0) continue;
    const TextColumns text = ReadColumns(file, {column.name}, ReadingOf(options, 0));
    if (!LookLikeBits(text.cells.front(), ReadingOf(options, 0))) continue;
    column.looks_like_bits = true;
    column.problem = facts->source + ": column " + Quoted(column.name) +
                     ": its cells look like bits, such as the fingerprint of a molecule; give "
                     "--bits " +
                     column.name;
  }
}

// The facts of a table whose lines are whole; cells that are no numbers count as missing.
void AddColumns(const DataOptions& options, const FileBytes& file, TableFacts* facts) {
  const Roles roles = RolesOf(options);
  ReadOptions reading = ReadingWithoutBits(options);
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
    if (std::strcmp(column.role, "input") == 0) JudgeAlone(table, static_cast<Index>(c), &column);
    if (column.missing > 0 && column.levels.empty() && column.missing < facts->rows)
      AddMissingWords(options, file, &column);
  }
  AddCorrelations(table, roles, &facts->columns);
  AddBits(options, file, facts);
  facts->plan = PlanFit(options.bits.empty() ? table : ReadWhole(options, file, true), roles,
                        ReadInputStd(options, /*threads=*/0));
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
  add("--bits", options.bits);
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

// Finds the options with which fit would take the table, if leaving columns out, reading them as
// bits and declaring words to be missing is enough.
void Propose(DataOptions options, const FileBytes& file, TableFacts* facts) {
  for (const ColumnFacts& column : facts->columns) {
    if (column.problem.empty()) continue;
    (column.looks_like_bits ? options.bits : options.ignore).push_back(column.name);
  }
  for (const TableFault& fault : facts->faults) {
    const auto among = [&](const std::vector<std::string>& names) {
      return std::count(names.begin(), names.end(), fault.column) > 0;
    };
    const bool ignored = among(options.ignore) || among(options.bits);
    if (!ignored)
      options.missing.insert(options.missing.end(), fault.words.begin(), fault.words.end());
  }
  std::sort(options.missing.begin(), options.missing.end());
  options.missing.erase(std::unique(options.missing.begin(), options.missing.end()),
                        options.missing.end());
  try {
    facts->target_kind = KindOfTarget(MakeDataset(ReadWhole(options, file, false), RolesOf(options),
                                                  ReadInputStd(options, /*threads=*/0)));
  } catch (const Error&) {
    return;
  }
  facts->proposal = CommandLine(options);
  const std::string& more = facts->target_kind.options;
  if (options.task == "auto" && !more.empty()) facts->alternative = CommandLine(options, more);
}

}  // namespace

TableFacts FindTableFacts(const DataOptions& options) {
  const FileBytes file = OpenTable(options.table, ReadingOf(options, /*threads=*/0));
  TableFacts facts;
  facts.source = file.name();
  facts.faults = FindFaults(file, ReadingWithoutBits(options));
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

}  // namespace fathom::cli
