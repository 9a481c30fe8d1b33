#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/common.h"
#include "cli/data_options.h"
#include "fathom/base/error.h"
#include "fathom/data/csv.h"
#include "fathom/evaluate/class_metrics.h"
#include "fathom/io/atomic_file.h"
#include "fathom/recipe/json_value.h"

namespace fathom::cli {

namespace {

constexpr const char* kExample =
    "Examples:\n"
    "  fathom predict price.fathom new.csv > predictions.csv\n"
    "  fathom predict price.fathom new.csv -o predictions.csv --quantiles 0.05,0.5,0.95\n"
    "  generate | fathom predict price.fathom - | consume\n\n"
    "Writes one line per row of TEST.csv: mean, std and quantiles of the target itself, noise "
    "included, in the\nunits of the file (with --latent: of the noise-free function). With several "
    "targets the columns are NAME_mean\nand so on. If TEST.csv has the target columns, log_density "
    "is the log density of their values. Other columns\nare ignored.\n\nOf classes: the most "
    "probable class and a column p_CLASS for each; log_probability is that of the true class.";

struct PredictCommandOptions {
  DataOptions data;
  std::string model, output = "-";
  std::string quantiles = "0.025,0.975";
  PredictOptions predict;
  int threads = 0;
  Index chunk = 4096;
  bool json = false;
};

// "q025" for 0.025, "q50" for 0.5.
std::string QuantileName(double probability) {
  char buffer[400];
  const auto end =
      std::to_chars(buffer, buffer + sizeof(buffer), probability, std::chars_format::fixed);
  std::string digits(buffer + 2, end.ptr);
  if (digits.size() < 2) digits += '0';
  return "q" + digits;
}

// What the predicted quantities are called: the targets or, where a class has several functions and
// these are asked for, the classes.
const std::vector<std::string>& PredictedNames(const Model& model) {
  const bool by_class = std::cmp_equal(model.schema.classes.size(), model.network.outputs());
  return by_class ? model.schema.classes : model.target_names;
}

std::vector<std::string> ColumnNames(const Model& model, const std::vector<double>& quantiles,
                                     bool log_density) {
  std::vector<std::string> names;
  const std::vector<std::string>& predicted = PredictedNames(model);
  for (const std::string& target : predicted) {
    const std::string prefix = predicted.size() == 1 ? "" : target + "_";
    names.push_back(prefix + "mean");
    names.push_back(prefix + "std");
    for (const double p : quantiles) names.push_back(prefix + QuantileName(p));
  }
  if (log_density) names.emplace_back("log_density");
  return names;
}

// Mean, standard deviation and quantiles of numbers or functions.
Table PredictNumbers(const ModelPredictor& predictor, const Dataset& rows,
                     const PredictOptions& options, const std::vector<double>& quantiles) {
  const Prediction prediction = predictor.Predict(rows.inputs, options);
  RequireFinite(prediction, rows.source);
  // A density of y says nothing about f.
  const bool log_density = rows.targets.cols() > 0 && !options.latent;
  const Index per_target = 2 + static_cast<Index>(quantiles.size());
  const Matrix mean = prediction.Mean();
  const Matrix variance = prediction.Variance();
  Table table{.source = rows.source,
              .columns = ColumnNames(predictor.model(), quantiles, log_density),
              .values = {}};
  Matrix& values = table.values;
  values.resize(rows.rows(), static_cast<Index>(table.columns.size()));
  for (Index n = 0; n < rows.rows(); ++n) {
    for (Index d = 0; d < prediction.outputs(); ++d) {
      Index column = d * per_target;
      values(n, column++) = mean(n, d);
      values(n, column++) = std::sqrt(variance(n, d));
      for (const double p : quantiles) values(n, column++) = prediction.Quantile(n, d, p);
    }
    if (log_density) {
      const auto y = rows.targets.row(n);
      values(n, values.cols() - 1) =
          y.hasNaN() ? std::numeric_limits<double>::quiet_NaN() : prediction.LogDensity(n, y);
    }
  }
  return table;
}

// The predicted class and the probability of each.
Table PredictClasses(const ModelPredictor& predictor, const Dataset& rows,
                     const PredictOptions& options) {
  const std::vector<std::string>& classes = predictor.model().schema.classes;
  const Matrix probability = predictor.ClassProbabilities(rows.inputs, options);
  if (!probability.allFinite()) ThrowNotFinite(rows.source);
  const bool log_probability = rows.targets.cols() > 0;
  Table table{.source = rows.source, .columns = {"class"}, .values = {}};
  for (const std::string& name : classes) table.columns.push_back("p_" + name);
  if (log_probability) table.columns.emplace_back("log_probability");
  table.levels.resize(table.columns.size());
  table.levels[0] = classes;
  table.values.resize(rows.rows(), static_cast<Index>(table.columns.size()));
  table.values.middleCols(1, probability.cols()) = probability;
  const std::vector<Index> predicted = PredictedClasses(probability);
  for (Index n = 0; n < rows.rows(); ++n) {
    table.values(n, 0) = static_cast<double>(predicted[n]);
    if (!log_probability) continue;
    const double truth = rows.targets(n, 0);
    table.values(n, table.values.cols() - 1) =
        std::isnan(truth) ? truth : std::log(probability(n, static_cast<Index>(truth)));
  }
  return table;
}

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

// The header once.
class CsvPieces : public Pieces {
 public:
  explicit CsvPieces(Output* output) : output_(output) {}

  void Write(const Table& piece) override {
    const std::string text = Text(piece, piece.values);
    const std::size_t header = first_ ? 0 : Text(piece, Matrix(0, piece.values.cols())).size();
    output_->Write(std::string_view(text).substr(header));
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
  JsonPieces(const Model& model, const std::vector<Note>& notes, Output* output) : output_(output) {
    nlohmann::ordered_json head = {{"targets", model.target_names}};
    if (!model.schema.classes.empty()) head["classes"] = model.schema.classes;
    head["notes"] = NotesJson(notes);
    std::string text = head.dump();
    text.pop_back();  // the closing brace
    output_->Write(text + ",\"predictions\":[");
  }

  void Write(const Table& piece) override {
    std::string text;
    for (Index n = 0; n < piece.values.rows(); ++n) {
      nlohmann::ordered_json row = {{"row", ++row_}};
      for (Index c = 0; c < piece.values.cols(); ++c) row[piece.columns[c]] = Cell(piece, n, c);
      text += (row_ == 1 ? "\n" : ",\n") + row.dump();
    }
    output_->Write(text);
  }

  void Finish() override { output_->Write("\n]}\n"); }

 private:
  static nlohmann::json Cell(const Table& piece, Index n, Index c) {
    const std::vector<std::string>& levels = piece.LevelsOf(c);
    const double value = piece.values(n, c);
    return levels.empty() ? ToJson(value) : nlohmann::json(levels[static_cast<Index>(value)]);
  }

  Output* output_;
  Index row_ = 0;
};

int RunPredict(const PredictCommandOptions& options) {
  const std::vector<double> quantiles = ParseProbabilities("--quantiles", options.quantiles);
  if (options.output != "-") CheckOutput(options.output, {options.model, options.data.table});
  const ModelPredictor predictor(LoadModel(options.model), options.threads);
  const Model& model = predictor.model();
  const RowsForModel test(options.data, model.schema, options.threads);
  TellNotes(test.rows().notes());

  Output output(options.output);
  std::unique_ptr<Pieces> pieces;
  if (options.json) {
    pieces = std::make_unique<JsonPieces>(model, test.rows().notes(), &output);
  } else {
    pieces = std::make_unique<CsvPieces>(&output);
  }
  const bool classes = !model.schema.classes.empty() && !options.predict.latent;
  test.ForEachPiece(options.chunk, options.predict,
                    [&](const Dataset& rows, const PredictOptions& predict) {
                      pieces->Write(classes ? PredictClasses(predictor, rows, predict)
                                            : PredictNumbers(predictor, rows, predict, quantiles));
                    });
  pieces->Finish();
  output.Commit();
  return kGood;
}

}  // namespace

Command AddPredict(CLI::App* program) {
  CLI::App* app = program->add_subcommand("predict", "Predict the target for the rows of a table");
  app->footer(kExample);
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
  app->add_flag("--latent", options->predict.latent,
                "Predict the function without the noise of an observation");
  app->add_flag("--json", options->json,
                "Write one JSON object: targets, notes, and predictions, an object per row with "
                "the columns as keys");
  AddReadingOptions(app, &options->data);
  AddSamples(app, &options->predict.samples, &options->predict.seed);
  AddThreads(app, &options->threads);
  AddChunk(app, &options->chunk);
  return {app, [options] { return RunPredict(*options); }};
}

}  // namespace fathom::cli
