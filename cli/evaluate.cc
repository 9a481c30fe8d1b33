#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/data_options.h"
#include "fathom/base/error.h"
#include "fathom/data/text.h"
#include "fathom/evaluate/metrics.h"
#include "fathom/fit/json_value.h"

namespace fathom::cli {

namespace {

constexpr const char* kExample =
    "Example:\n"
    "  fathom evaluate price.fathom test.csv\n"
    "  fathom evaluate price.fathom test.csv --json | jq .rmse\n\n"
    "TEST.csv needs the model's inputs and its target. Rows without a target are left out. All "
    "scores are in the\nunits of the file.";

struct EvaluateOptions {
  std::string model;
  DataOptions data;
  PredictOptions predict;
  int threads = 0;
  bool json = false;
};

struct ScoreLine {
  const char* key;
  double value;
  const char* meaning;
};

std::vector<ScoreLine> Lines(const Scores& scores) {
  return {
      {"rmse", scores.rmse, "root mean squared error; smaller is better"},
      {"mae", scores.mae, "mean absolute error; smaller is better"},
      {"mean_log_likelihood", scores.mean_log_likelihood,
       "mean log density of the target; larger is better"},
      {"crps", scores.crps, "continuous ranked probability score; smaller is better"},
      {"coverage_50", scores.coverage_50, "share of targets in the 50 % interval; ideal is 0.5"},
      {"coverage_90", scores.coverage_90, "share of targets in the 90 % interval; ideal is 0.9"},
      {"coverage_95", scores.coverage_95, "share of targets in the 95 % interval; ideal is 0.95"},
      {"calibration_error", scores.calibration_error,
       "mean gap between promised and true coverage; ideal is 0"},
      {"sharpness", scores.sharpness, "mean predicted standard deviation"},
      {"interval_score_95", scores.interval_score_95,
       "width of the 95 % interval plus a penalty for misses; smaller is better"},
  };
}

std::string JsonScores(const Scores& scores, const std::vector<Note>& notes) {
  nlohmann::ordered_json json;
  for (const ScoreLine& line : Lines(scores)) json[line.key] = ToJson(line.value);
  json["rows"] = scores.rows;
  json["notes"] = NotesJson(notes);
  return json.dump(2) + "\n";
}

std::string HumanScores(const Scores& scores) {
  std::string text;
  char buffer[200];
  for (const ScoreLine& line : Lines(scores)) {
    std::snprintf(buffer, sizeof(buffer), "%-20s %12s   %s\n", line.key, Short(line.value).c_str(),
                  line.meaning);
    text += buffer;
  }
  std::snprintf(buffer, sizeof(buffer), "%-20s %12lld   rows with a target\n", "rows",
                static_cast<long long>(scores.rows));
  return text + buffer;
}

int RunEvaluate(const EvaluateOptions& options) {
  const ModelPredictor predictor(LoadModel(options.model), options.threads);
  const Model& model = predictor.model();
  const RowsForModel test(options.data, model.schema, options.threads);
  const Table& table = test.table();
  for (const std::string& target : model.target_names) {
    if (std::count(table.columns.begin(), table.columns.end(), target) == 0) {
      ThrowError(table.source, ": has no target column ", Quoted(target),
                 ", to which predictions could be compared; 'fathom predict' needs none");
    }
  }
  const Dataset rows = test.rows().Read();
  TellNotes(rows.notes);
  const Prediction prediction = predictor.Predict(rows.inputs, options.predict);
  RequireFinite(prediction, table);
  const Scores scores = Evaluate(prediction, rows.targets);
  WriteOut(options.json ? JsonScores(scores, rows.notes) : HumanScores(scores));
  return kGood;
}

}  // namespace

Command AddEvaluate(CLI::App* program) {
  CLI::App* app =
      program->add_subcommand("evaluate", "Score a model on a table with known targets");
  app->footer(kExample);
  const auto options = std::make_shared<EvaluateOptions>();
  app->add_option("MODEL", options->model, "Model that 'fathom fit' has written")
      ->required()
      ->type_name("");
  app->add_option("TEST.csv", options->data.table,
                  "Table with the model's inputs and target; - is standard input")
      ->required()
      ->type_name("");
  AddReadingOptions(app, &options->data);
  AddSamples(app, &options->predict.samples, &options->predict.seed);
  AddThreads(app, &options->threads);
  app->add_flag("--json", options->json, "Print the scores as one JSON object");
  return {app, [options] { return RunEvaluate(*options); }};
}

}  // namespace fathom::cli
