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

namespace fathom::cli {

namespace {

constexpr const char* kExample =
    "Example:\n"
    "  fathom evaluate price.fathom test.csv\n"
    "  fathom evaluate price.fathom test.csv --json | jq .rmse\n\n"
    "TEST.csv needs the model's inputs and its target. Rows without a target are left out. All "
    "scores are in the\nunits of the file. Of classes, the last table counts rows by their true "
    "and predicted class.";

struct EvaluateOptions {
  std::string model;
  DataOptions data;
  PredictOptions predict;
  int threads = 0;
  bool json = false;
};

template <typename AnyScores>
nlohmann::ordered_json JsonScores(const AnyScores& scores, const std::vector<Note>& notes) {
  nlohmann::ordered_json json = ScoresJson(ScoreLines(scores));
  json["rows"] = scores.rows;
  json["notes"] = NotesJson(notes);
  return json;
}

template <typename AnyScores>
std::string HumanScores(const AnyScores& scores) {
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

// A row of a class that the model does not know would have probability 0; leaving it out would
// flatter the model.
void RequireKnownClasses(const std::vector<Note>& notes) {
  for (const Note& note : notes) {
    if (note.kind == "unseen_classes")
      ThrowError(note.text, ", but scores need the true class; correct or remove them");
  }
}

void WriteClassScores(const EvaluateOptions& options, const ModelPredictor& predictor,
                      const Dataset& rows) {
  const std::vector<std::string>& classes = predictor.model().schema.classes;
  const ClassScores scores =
      EvaluateClasses(predictor.ClassProbabilities(rows.inputs, options.predict), rows.targets);
  if (options.json) {
    nlohmann::ordered_json json = JsonScores(scores, rows.notes);
    json.update(ConfusionJson(classes, scores));
    WriteOut(json.dump(2) + "\n");
  } else {
    WriteOut(HumanScores(scores) + "\n" + ConfusionTable(classes, scores));
  }
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
  RequireKnownClasses(rows.notes);
  if (!HasCompleteRow(rows.targets)) {
    ThrowError(table.source, ": no row has a value in ", QuotedList(model.target_names),
               "; give rows whose targets are known");
  }
  TellNotes(rows.notes);
  if (!model.schema.classes.empty()) {
    WriteClassScores(options, predictor, rows);
    return kGood;
  }
  const Prediction prediction = predictor.Predict(rows.inputs, options.predict);
  RequireFinite(prediction, table.source);
  const Scores scores = Evaluate(prediction, rows.targets);
  WriteOut(options.json ? JsonScores(scores, rows.notes).dump(2) + "\n" : HumanScores(scores));
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
