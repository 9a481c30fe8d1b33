#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "cli/common.h"
#include "cli/data_options.h"
#include "cli/large_tables.h"
#include "cli/ranks.h"
#include "cli/rounds.h"
#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/data/csv.h"
#include "fathom/data/input_range.h"
#include "fathom/fitted/predict_together.h"
#include "fathom/fitted/prediction_table.h"
#include "fathom/io/atomic_file.h"
#include "fathom/io/json_text.h"
#include "fathom/io/json_value.h"

namespace fathom::cli {

namespace {

constexpr const char* kPredictExample =
    "Examples:\n"
    "  fathom predict price.fathom new.csv > predictions.csv\n"
    "  fathom predict price.fathom new.csv -o predictions.csv --quantiles 0.05,0.5,0.95\n"
    "  generate | fathom predict price.fathom - | consume\n\n"
    "Writes one line per row of TEST.csv: mean, std and quantiles of the target itself, noise "
    "included, in the\nunits of the file (with --latent: of the noise-free function). With several "
    "targets the columns are NAME_mean\nand so on. If TEST.csv has the target columns, log_density "
    "is the log density of their values. outside is the\nnumber of inputs in which the row lies "
    "beyond the training rows. Other columns are ignored, or written too with\n"
    "--keep.\n\nFor classes: the most "
    "probable class and a column p_CLASS for each; log_probability is that of the true class.";

struct PredictCommandOptions {
  DataOptions data;
  MemoryOptions memory;
  std::string model, output = "-";
  std::string quantiles = "0.025,0.975";
  std::vector<std::string> keep;
  PredictOptions predict;
  int threads = 0;
  Index chunk = 4096;
  bool json = false;
};

// Standard output, or a file that appears only when all of it is there.
class Output {
 public:
  explicit Output(const std::string& path) {
    if (path != "-") file_ = std::make_unique<AtomicFile>(path);
  }

  void Write(std::string_view text) {
    if (file_) {
      file_->Write(text);
    } else {
      WriteOut(text);
    }
  }
  void Commit() {
    if (file_) file_->Commit();
  }

 private:
  std::unique_ptr<AtomicFile> file_;
};

// Writes predictions in pieces of one table.
class Pieces {
 public:
  virtual ~Pieces() = default;
  virtual void Write(const Table& piece) = 0;
  virtual void Finish() {}
};

// Writes the header once, before the first piece.
class CsvPieces : public Pieces {
 public:
  explicit CsvPieces(Output* output) : output_(output) {}

  void Write(const Table& piece) override {
    const std::string text = Text(piece, piece.values);
    const std::size_t header = first_ ? 0 : Text(piece, Matrix(0, piece.values.cols())).size();
    output_->Write(std::string_view{text}.substr(header));
    first_ = false;
  }

 private:
  static std::string Text(const Table& piece, const Matrix& values) {
    std::ostringstream out;
    WriteCsv(out, piece.columns, values, piece.levels);
    return out.str();
  }

  Output* output_;
  bool first_ = true;
};

// One object: what was predicted, and an object per row in a list.
class JsonPieces : public Pieces {
 public:
  JsonPieces(const Schema& schema, const std::vector<Note>& notes, Output* output)
      : output_(output) {
    nlohmann::ordered_json head = {{"targets", schema.targets}};
    if (schema.has_classes()) head["classes"] = schema.classes;
    head["notes"] = NotesJson(notes);
    std::string text = JsonText(head);
    text.pop_back();  // the closing brace
    output_->Write(text + ",\"predictions\":[");
  }

  void Write(const Table& piece) override {
    std::string text;
    for (Index n = 0; n < piece.values.rows(); ++n) {
      nlohmann::ordered_json row = {{"row", ++row_}};
      for (Index c = 0; c < piece.values.cols(); ++c) row[piece.columns[c]] = Cell(piece, n, c);
      text += (row_ == 1 ? "\n" : ",\n") + JsonText(row);
    }
    output_->Write(text);
  }

  void Finish() override { output_->Write("\n]}\n"); }

 private:
  static nlohmann::json Cell(const Table& piece, Index n, Index c) {
    const std::vector<std::string>& levels = piece.LevelsOf(c);
    const double value = piece.values(n, c);
    if (piece.columns[c] == kOutside) return static_cast<Index>(value);  // a count
    return levels.empty() ? ToJson(value) : nlohmann::json(levels[static_cast<Index>(value)]);
  }

  Output* output_;
  Index row_ = 0;
};

// The kept columns and, to their right, what was predicted.
Table SideBySide(const Table& kept, const Table& predicted) {
  Table both = kept;
  for (const std::string& name : predicted.columns) {
    if (std::count(kept.columns.begin(), kept.columns.end(), name) > 0)
      ThrowError("--keep: column ", Quoted(name),
                 " has the name of a prediction; give it another name, or do not keep it");
    both.columns.push_back(name);
  }
  both.levels.resize(kept.columns.size());
  for (std::size_t c = 0; c < predicted.columns.size(); ++c)
    both.levels.push_back(predicted.LevelsOf(static_cast<Index>(c)));
  both.values.resize(predicted.values.rows(), kept.values.cols() + predicted.values.cols());
  both.values << kept.values, predicted.values;
  return both;
}

// Adds a note on how many rows lie beyond the range of the training, if any, and in which columns.
std::vector<Note> NotesOn(const RowsForModel& test, const Model& model) {
  std::vector<Note> notes = test.rows().notes();
  const InputRange& range = model.data().range;
  if (!range.known()) return notes;
  std::vector<Index> rows_of_column;
  Index outside = 0;
  test.ForEachPiece(4096, {}, [&](const Dataset& rows, const PredictOptions& /*options*/) {
    const Vector count = CountOutside(range, model.schema(), rows.inputs(), &rows_of_column);
    outside += (count.array() > 0).count();
  });
  if (outside == 0) return notes;
  std::vector<std::string> names;
  for (std::size_t c = 0; c < rows_of_column.size(); ++c) {
    if (rows_of_column[c] > 0) names.push_back(model.schema().inputs[c].name);
  }
  std::ostringstream text;
  text << test.table().source << ": " << outside << " of " << test.rows().rows()
       << (outside == 1 ? " rows lies" : " rows lie") << " beyond the training rows in "
       << QuotedList(names) << "; see the column 'outside'";
  notes.push_back({"rows_outside", outside, text.str()});
  return notes;
}

int RunPredict(const PredictCommandOptions& options) {
  const std::vector<double> quantiles = ParseProbabilities("--quantiles", options.quantiles);
  if (options.output != "-") {
    std::vector<std::string> inputs = FilesReadBy(options.data, options.memory);
    inputs.push_back(options.model);
    CheckOutput(options.output, inputs);
  }
  const ModelPredictor predictor(LoadModel(options.model), options.threads);
  const Schema& schema = predictor.model().schema();
  const RowsForModel test(options.data, options.memory, schema, options.threads,
                          {.targets_may_be_anything = true, .keep = SplitLists(options.keep)});
  const std::vector<Note> notes = NotesOn(test, predictor.model());
  TellNotes(notes);

  Output output(options.output);
  std::unique_ptr<Pieces> pieces;
  if (options.json) {
    pieces = std::make_unique<JsonPieces>(schema, notes, &output);
  } else {
    pieces = std::make_unique<CsvPieces>(&output);
  }
  const PredictTogether together(predictor, AllRanks(), options.threads);
  ForEachRound(test, options.chunk, options.predict, [&](const auto& round) {
    const std::vector<Table> tables =
        together.Predict(round, {.quantiles = quantiles, .outside = true});
    for (std::size_t i = 0; i < tables.size(); ++i) {
      const auto& [rows, predict] = round[i];
      pieces->Write(options.keep.empty()
                        ? tables[i]
                        : SideBySide(test.Kept(predict.first_row, rows.rows()), tables[i]));
    }
  });
  pieces->Finish();
  output.Commit();
  return kGood;
}

}  // namespace

Command AddPredict(CLI::App* program) {
  CLI::App* app = program->add_subcommand("predict", "Predict the target for the rows of a table");
  app->footer(kPredictExample);
  const auto options = std::make_shared<PredictCommandOptions>();
  app->add_option("MODEL", options->model, "Model that 'fathom fit' has written")
      ->required()
      ->type_name("");
  app->add_option("TEST.csv", options->data.table,
                  "Table with the model's inputs; - is standard input")
      ->required()
      ->type_name("");
  app->add_option("-o,--output", options->output, "File to write; - is standard output")
      ->type_name("FILE")
      ->capture_default_str();
  app->add_option("--quantiles", options->quantiles, "Which quantiles to write")
      ->type_name("P[,P]")
      ->capture_default_str();
  app->add_option("--keep", options->keep,
                  "Column of TEST.csv to write before the predictions; repeat it, give a,b, or all")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false)
      ->type_name("NAME");
  app->add_flag("--latent", options->predict.latent,
                "Predict the function without the noise of an observation");
  app->add_flag("--json", options->json,
                "Write one JSON object: targets, notes, and predictions, an object per row with "
                "the columns as keys");
  AddReadingOptions(app, &options->data);
  AddMemoryOptions(app, &options->memory);
  AddSamples(app, &options->predict.samples, &options->predict.seed);
  AddThreads(app, &options->threads);
  AddChunk(app, &options->chunk);
  return {app, [options] { return RunPredict(*options); }};
}

}  // namespace fathom::cli
