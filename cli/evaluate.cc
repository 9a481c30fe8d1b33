#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/data_options.h"
#include "cli/score_lines.h"
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

std::string JsonScores(const Scores& scores, const std::vector<Note>& notes) {
  nlohmann::ordered_json json;
  for (const ScoreLine& line : ScoreLines(scores)) json[line.key] = ToJson(line.value);
  json["rows"] = scores.rows;
  json["notes"] = NotesJson(notes);
  return json.dump(2) + "\n";
}

std::string HumanScores(const Scores& scores) {
  std::string text;
  char buffer[200];
  for (const ScoreLine& line : ScoreLines(scores)) {
    std::snprintf(buffer, sizeof(buffer), "%-20s %12s   %s\n", line.key, Short(line.value).c_str(),
                  line.meaning);
    text += buffer;
  }
  std::snprintf(buffer, sizeof(buffer), "%-20s %12lld   rows with a target\n", "rows",
                static_cast<long long>(scores.rows));
  return text + buffer;
}

bool HasCompleteRow(const Matrix& targets) {
  for (Index n = 0; n < targets.rows(); ++n) {
    if (!targets.row(n).hasNaN()) return true;
  }
  return false;
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
  if (!HasCompleteRow(rows.targets)) {
    ThrowError(table.source, ": no row has a value in ", QuotedList(model.target_names),
               "; give rows whose targets are known");
  }
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
