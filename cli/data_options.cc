#include "cli/data_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "fathom/base/error.h"
#include "fathom/base/text.h"

namespace fathom::cli {

namespace {

using Json = nlohmann::json;

char ParseSeparator(const std::string& text) {
  if (text.empty()) return 0;
  if (text == "tab" || text == "\\t") return '\t';
  const auto c = static_cast<unsigned char>(text[0]);
  if (text.size() == 1 &&
      (text[0] == '\t' ||
       (std::ispunct(c) != 0 && std::string("\"'+-.").find(text[0]) == std::string::npos))) {
    return text[0];
  }
  ThrowError("--separator: ", Quoted(text),
             " cannot stand between cells; give one sign, such as ';', or 'tab'");
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
                  "Sign between the cells of a line, or 'tab'; found out if not given")
      ->type_name("SIGN");
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
                  "Whether the target is a number or a class; auto: a class if it holds texts")
      ->check(OneOf({"auto", "regress", "classify"}))
      ->type_name("auto|regress|classify")
      ->capture_default_str();
  AddColumns(app, "--ignore", &options->ignore, "Column to leave out; repeat it or give a,b");
  AddColumns(app, "--categorical", &options->categorical,
             "Column whose numbers are names of categories; repeat it or give a,b");
  app->add_option("--weights", options->weights,
                  "Column that says how many rows each row counts as")
      ->type_name("NAME");
}

void AddDataOptions(CLI::App* app, DataOptions* options) {
  AddRoleOptions(app, options);
  AddReadingOptions(app, options);
}

ReadOptions ReadingOf(const DataOptions& options, int threads) {
  ReadOptions reading;
  reading.threads = threads;
  reading.separator = ParseSeparator(options.separator);
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
          .task = task};
}

Table ReadTableFor(const DataOptions& options, const Roles& roles, int threads) {
  return ReadTable(options.table, ReadingFor(roles, ReadingOf(options, threads)));
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
  Json words = Json::array();
  for (const CLI::Option* known : parser->get_options()) {
    for (const std::string& value : app.get_option(known->get_name())->results())
      words.push_back(known->get_name() + "=" + value);
  }
  return Json{{"table", table}, {"options", words}}.dump(-1, ' ', false,
                                                         Json::error_handler_t::replace);
}

DataOptions DataFromDescription(const std::string& description) {
  DataOptions options;
  try {
    const Json json = Json::parse(description);
    json.at("table").get_to(options.table);
    auto words = json.at("options").get<std::vector<std::string>>();
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    DataParser(&options)->parse(words);
  } catch (const Json::exception&) {
    ThrowError("how its table was read is not known");
  } catch (const CLI::ParseError& error) {
    ThrowError("how its table was read is not known: ", error.what());
  }
  return options;
}

RowsForModel::RowsForModel(const DataOptions& options, const Schema& schema, int threads)
    : table_(ReadTable(options.table, ReadingFor(schema, ReadingOf(options, threads)))),
      rows_((RequireNames(table_, schema, options), table_), schema,
            ReadStd(options, ReadingFor(schema, ReadingOf(options, threads)))) {}

void RowsForModel::ForEachPiece(
    Index most_rows, const PredictOptions& options,
    const std::function<void(const Dataset& rows, const PredictOptions& options)>& visit) const {
  // With many samples a piece has fewer rows, so that it stays within 64 MB per network and target.
  constexpr Index kMostSamples = Index{1} << 22;
  const Index step =
      std::min(most_rows, std::max<Index>(kMostSamples / std::max<Index>(options.samples, 1), 1));
  PredictOptions here = options;
  do {
    const Index count = std::min(step, rows_.rows() - here.first_row);
    visit(rows_.Read(here.first_row, count), here);
    here.first_row += count;
  } while (here.first_row < rows_.rows());
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
