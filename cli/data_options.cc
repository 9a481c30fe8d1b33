#include "cli/data_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "cli/common.h"
#include "cli/large_tables.h"
#include "cli/ranks.h"
#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/data/bits.h"
#include "fathom/data/column_facts.h"
#include "fathom/data/table_parts.h"
#include "fathom/io/json_text.h"

namespace fathom::cli {

namespace {

char ParseSeparator(const std::string& text) {
  if (text.empty()) return 0;
  if (text == "tab" || text == "\\t") return '\t';
  if (text == "space" || text == " ") return ' ';
  const auto c = static_cast<unsigned char>(text[0]);
  if (text.size() == 1 &&
      (text[0] == '\t' ||
       (std::ispunct(c) != 0 && std::string("\"'+-.").find(text[0]) == std::string::npos))) {
    return text[0];
  }
  ThrowError("--separator: ", Quoted(text),
             " cannot stand between cells; give one sign, such as ';', or 'tab' or 'space'");
}

// "column=0.1"; anything else is a file.
bool ParseColumnStd(const std::string& text, std::pair<std::string, double>* column) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos) return false;
  column->first = text.substr(0, equals);
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data() + equals + 1, end, column->second);
  return problem == std::errc() && stop == end;
}

InputStd ReadStd(const DataOptions& options, const ReadOptions& reading) {
  InputStd std;
  for (const std::string& text : options.input_std) {
    std::pair<std::string, double> column;
    if (ParseColumnStd(text, &column)) {
      std.columns.push_back(column);
      continue;
    }
    if (!std.cells.columns.empty())
      ThrowError("--input-std: names two files, ", Quoted(std.cells.source), " and ", Quoted(text),
                 "; give one");
    if (text == "-" && options.table == "-")
      ThrowError("--input-std: standard input is already the table; name a file");
    if (text.find('=') != std::string::npos && !std::filesystem::exists(text)) {
      ThrowError("--input-std: ", Quoted(text),
                 " is neither NAME=NUMBER nor a file; write, for example, ",
                 text.substr(0, text.find('=')), "=0.1");
    }
    std.cells = ReadTable(text, reading);
  }
  return std;
}

CLI::Option* AddColumns(CLI::App* app, const char* name, std::vector<std::string>* columns,
                        const char* what) {
  return app->add_option(name, *columns, what)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false)
      ->type_name("NAME");
}

// A model that knows its columns by name must not take numbers for names.
void RequireNames(const Table& table, const Schema& schema, const DataOptions& options) {
  if (table.unnamed_columns == 0 || schema.unnamed_columns > 0 || options.no_header) return;
  ThrowError(table.source,
             ": has no header row, but the model finds its columns by name; put a line",
             " of names on top, or give --no-header if the columns are the model's inputs in their",
             " order");
}

// A parser of the data options alone.
std::unique_ptr<CLI::App> DataParser(DataOptions* options) {
  auto app = std::make_unique<CLI::App>();
  app->set_help_flag("");
  AddDataOptions(app.get(), options);
  return app;
}

}  // namespace

void AddReadingOptions(CLI::App* app, DataOptions* options) {
  app->add_option("--separator", options->separator,
                  "Sign between the cells of a line, 'tab' or 'space'; found out if not given")
      ->type_name("SIGN");
  app->add_option("--decimal", options->decimal,
                  "Sign before the fraction of a number; auto: found out from the whole column")
      ->check(OneOf({"auto", "point", "comma"}))
      ->type_name("auto|point|comma")
      ->capture_default_str();
  app->add_option("--dates", options->dates,
                  "What comes first in dates such as 2/1/2024; ignore: leave dates out")
      ->check(OneOf({"auto", "day-first", "month-first", "ignore"}))
      ->type_name("auto|day-first|month-first|ignore")
      ->capture_default_str();
  app->add_option(
         "--missing", options->missing,
         "Word for a missing cell, beside NA, NaN, null, ? and the like; repeat it or give "
         "a,b")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false)
      ->type_name("WORD");
  CLI::Option* header = app->add_flag("--header", options->header,
                                      "The first line holds names, even if they look like numbers");
  app->add_flag("--no-header", options->no_header,
                "The first line is a row; the columns are called x1, x2, ...")
      ->excludes(header);
  app->add_option("--input-std", options->input_std,
                  "Standard deviation of input cells, in the units of the file: NAME=0.1 for a "
                  "column, or a table with one for each cell")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false)
      ->type_name("NAME=S|FILE");
}

void AddRoleOptions(CLI::App* app, DataOptions* options) {
  AddColumns(app, "--target", &options->targets,
             "Column to predict, by name or number; repeat it or give a,b for several")
      ->required();
  app->add_option("--task", options->task,
                  "Whether the target is a number or a class; auto: a class if it holds text")
      ->check(OneOf({"auto", "regress", "classify"}))
      ->type_name("auto|regress|classify")
      ->capture_default_str();
  AddColumns(app, "--ignore", &options->ignore, "Column to leave out; repeat it or give a,b");
  AddColumns(app, "--categorical", &options->categorical,
             "Column whose numbers are names of categories; repeat it or give a,b");
  AddColumns(
      app, "--bits", &options->bits,
      "Column of hexadecimal digits, such as a fingerprint of a molecule: each digit is four "
      "inputs of 0 or 1; a digit of a column of 0 and 1 alone is one; repeat it or give a,b");
  app->add_option("--weights", options->weights,
                  "Column that says how much each row counts; only the ratios matter")
      ->type_name("NAME");
  app->add_flag("--counts", options->counts,
                "The weights are counts: a row of weight 3 is three rows");
}

void AddDataOptions(CLI::App* app, DataOptions* options) {
  AddRoleOptions(app, options);
  AddReadingOptions(app, options);
}

ReadOptions ReadingOf(const DataOptions& options, int threads) {
  ReadOptions reading;
  reading.threads = threads;
  reading.ranks = &AllRanks();
  reading.separator = ParseSeparator(options.separator);
  if (options.decimal != "auto") reading.decimal = options.decimal == "comma" ? ',' : '.';
  if (options.dates == "day-first") reading.date_order = DateOrder::kDayFirst;
  if (options.dates == "month-first") reading.date_order = DateOrder::kMonthFirst;
  reading.missing = SplitLists(options.missing);
  if (options.header) reading.header = Header::kPresent;
  if (options.no_header) reading.header = Header::kAbsent;
  return reading;
}

Roles RolesOf(const DataOptions& options) {
  Task task = Task::kAuto;
  if (options.task == "regress") task = Task::kRegress;
  if (options.task == "classify") task = Task::kClassify;
  return {.targets = SplitLists(options.targets),
          .ignore = SplitLists(options.ignore),
          .categorical = SplitLists(options.categorical),
          .weights = options.weights,
          .task = task,
          .ignore_dates = options.dates == "ignore",
          .weights_are_counts = options.counts};
}

Table ReadTableFor(const DataOptions& options, const Roles& roles, int threads) {
  const ReadOptions reading = ReadingFor(roles, ReadingOf(options, threads));
  return ReadTableWithBits(OpenTable(options.table, reading), reading, BitsOf(options));
}

std::vector<BitColumn> BitsOf(const DataOptions& options) {
  return BitColumns(SplitLists(options.bits));
}

InputStd ReadInputStd(const DataOptions& options, int threads) {
  return ReadStd(options, ReadingOf(options, threads));
}

Dataset ReadData(const DataOptions& options, int threads) {
  const Roles roles = RolesOf(options);
  return MakeDataset(ReadTableFor(options, roles, threads), roles, ReadInputStd(options, threads));
}

std::string DescribeData(const CLI::App& app, const std::string& table) {
  DataOptions unused;
  const std::unique_ptr<CLI::App> parser = DataParser(&unused);
  nlohmann::json words = nlohmann::json::array();
  for (const CLI::Option* known : parser->get_options()) {
    for (const std::string& value : app.get_option(known->get_name())->results())
      words.push_back(known->get_name() + "=" + value);
  }
  return JsonText(nlohmann::json{{"table", table}, {"options", words}}, -1, NotUtf8::kReplace);
}

DataOptions DataFromDescription(const std::string& description) {
  DataOptions options;
  try {
    const nlohmann::json json = TryParseJson(description);
    json.at("table").get_to(options.table);
    auto words = json.at("options").get<std::vector<std::string>>();
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    DataParser(&options)->parse(words);
  } catch (const nlohmann::json::exception&) {
    ThrowError("how its table was read is not known");
  } catch (const CLI::ParseError& error) {
    ThrowError("how its table was read is not known: ", error.what());
  }
  return options;
}

struct RowsForModel::State {
  Table table = {};
  std::optional<PackedTable> packed = {};
  std::optional<TableSurvey> survey = {};  // of the packed table
  std::optional<InputRows> rows = {};      // refers to the others
  TextColumns kept = {};

  const Table& head() const { return packed ? packed->head() : table; }
};

RowsForModel::RowsForModel(const DataOptions& options, const MemoryOptions& memory,
                           const Schema& schema, int threads, const Wanted& wanted)
    : state_(std::make_unique<State>()) {
  const ReadOptions plain = ReadingOf(options, threads);
  const ReadOptions reading = ReadingFor(schema, plain, wanted.targets_may_be_anything);
  const InputStd std = ReadStd(options, ReadingFor(schema, plain));
  if (MemoryOf(memory) < HUGE_VAL) {
    if (!wanted.keep.empty())
      ThrowError("--memory: --keep columns must fit into memory; leave one of the two out");
    if (!std.cells.columns.empty())
      ThrowError("--memory: ", std.cells.source, " must fit into memory; leave --memory out");
    state_->packed.emplace(Pack(options, memory, reading));
    RequireNames(state_->head(), schema, options);
    state_->survey.emplace(state_->head());
    state_->packed->ForEachBlock(
        [&](Index first, const Matrix& rows) { state_->survey->Add(state_->head(), first, rows); });
    state_->rows.emplace(state_->head(), *state_->survey, schema, std);
    return;
  }
  const FileBytes file = OpenTable(options.table, reading);
  state_->table = ReadTableWithBits(file, reading, BitColumnsFor(schema, file, plain));
  RequireNames(state_->table, schema, options);
  state_->rows.emplace(state_->table, schema, std);
  if (!wanted.keep.empty()) state_->kept = ReadColumns(file, wanted.keep, plain);
}

RowsForModel::~RowsForModel() = default;

const Table& RowsForModel::table() const { return state_->head(); }
const InputRows& RowsForModel::rows() const { return *state_->rows; }

Table RowsForModel::Kept(Index first, Index count) const {
  // Each cell is a level of its own, so that the table is written as it was read.
  const TextColumns& kept = state_->kept;
  Table table;
  table.columns = kept.names;
  table.values.resize(count, static_cast<Index>(kept.names.size()));
  for (const std::vector<std::string>& cells : kept.cells)
    table.levels.emplace_back(cells.begin() + first, cells.begin() + first + count);
  for (Index n = 0; n < count; ++n) table.values.row(n).setConstant(static_cast<double>(n));
  return table;
}

Dataset RowsForModel::Read(Index first, Index count) const {
  if (!state_->packed) return rows().Read(first, count);
  std::vector<Index> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), Index{0});
  DatasetParts parts = rows().Pick(state_->packed->Read(first, count), numbers);
  for (Index& number : numbers) number += first;
  parts.table_rows = std::move(numbers);
  parts.notes = rows().notes();
  return Dataset(std::move(parts));
}

void RowsForModel::ForEachPiece(
    Index most_rows, const PredictOptions& options,
    const std::function<void(const Dataset& rows, const PredictOptions& options)>& visit) const {
  // With many samples a piece has fewer rows, so that it stays within 64 MB per network and target.
  constexpr Index kMostSamples = Index{1} << 22;
  const Index step =
      std::min(most_rows, std::max<Index>(kMostSamples / std::max<Index>(options.samples, 1), 1));
  PredictOptions here = options;
  do {
    const Index count = std::min(step, rows().rows() - here.first_row);
    visit(Read(here.first_row, count), here);
    here.first_row += count;
  } while (here.first_row < rows().rows());
}

void AddChunk(CLI::App* app, Index* rows) {
  app->add_option("--chunk", *rows,
                  "Rows predicted at a time, which bounds the memory; changes no result")
      ->check(InRange(1, 100'000'000))
      ->type_name("ROWS")
      ->capture_default_str();
}

void TellNotes(const std::vector<Note>& notes) {
  for (const Note& note : notes) Complain("note: " + note.text);
}

}  // namespace fathom::cli
