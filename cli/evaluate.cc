#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/data_options.h"
#include "cli/known_targets.h"
#include "cli/large_tables.h"
#include "cli/ranks.h"
#include "cli/rounds.h"
#include "cli/score_lines.h"
#include "fathom/base/text.h"
#include "fathom/evaluate/evaluation.h"
#include "fathom/fitted/prediction_table.h"
#include "fathom/io/json_text.h"

namespace fathom::cli {

namespace {

constexpr const char* kEvaluateExample =
    "Example:\n"
    "  fathom evaluate price.fathom test.csv\n"
    "  fathom evaluate price.fathom test.csv --json | jq .rmse\n\n"
    "TEST.csv needs the model's inputs and its target. Rows without a target are left out. All "
    "scores are in the\nunits of the file. For classes, the last table counts rows by their true "
    "and predicted class.";

struct EvaluateOptions : TestOptions {
  bool json = false;
};

// The scores of all targets together and, if there are several, of each: targets may have different
// units, whose errors must not be added.
struct TargetScores {
  Evaluation together;
  std::vector<std::pair<std::string, Evaluation>> each;
};

std::string ScoreLines(const Evaluation& scores) {
  std::string text;
  char buffer[200];
  for (const auto& [kind, value] : NamedScores(scores)) {
    std::snprintf(buffer, sizeof(buffer), "%-20s %12s   %s\n", kind->key, Short(value).c_str(),
                  kind->meaning);
    text += buffer;
  }
  std::snprintf(buffer, sizeof(buffer), "%-20s %12lld   rows with a target\n", "rows",
                static_cast<long long>(ScoredRows(scores)));
  return text + buffer;
}

std::string HumanReport(const std::vector<std::string>& classes, const TargetScores& scores) {
  if (scores.each.empty())
    return ScoreLines(scores.together) + ConfusionText(classes, scores.together);
  std::string text;
  for (const auto& [target, own] : scores.each)
    text += (text.empty() ? "" : "\n") + ("target " + Quoted(target)) + "\n" + ScoreLines(own);
  const auto& together = std::get<Scores>(scores.together);
  return text + "\nall targets together: mean_log_likelihood " +
         Short(together.mean_log_likelihood) + "\n";
}

nlohmann::ordered_json OwnJson(const Evaluation& scores) {
  nlohmann::ordered_json json = ScoresJson(scores);
  json["rows"] = ScoredRows(scores);
  return json;
}

std::string JsonReport(const std::vector<std::string>& classes, const TargetScores& scores,
                       const std::vector<Note>& notes) {
  nlohmann::ordered_json json = OwnJson(scores.together);
  json["notes"] = NotesJson(notes);
  AddConfusion(classes, scores.together, &json);
  for (const auto& [target, own] : scores.each) json["targets"][target] = OwnJson(own);
  return JsonText(json, 2) + "\n";
}

TargetScores Score(const EvaluateOptions& options, const ModelPredictor& predictor,
                   const RowsForModel& test) {
  const Schema& schema = predictor.model().schema();
  EachEvaluationSums sums(schema.has_classes(), static_cast<Index>(schema.targets.size()));
  const PredictTogether together(predictor, AllRanks(), options.threads);
  ForEachRound(test, options.chunk, options.predict, [&](const auto& round) {
    const std::vector<Matrix> parts = together.ScoreParts(round);
    for (std::size_t i = 0; i < round.size(); ++i) sums.Add(parts[i], round[i].rows.targets());
  });
  RequireScoredRows(sums.rows(), test, schema);
  const std::vector<std::optional<Evaluation>> means = sums.Means();
  TargetScores scores{*means[0], {}};
  for (std::size_t i = 1; i < means.size(); ++i) {
    if (means[i]) scores.each.emplace_back(schema.targets[i - 1], *means[i]);
  }
  return scores;
}

int RunEvaluate(const EvaluateOptions& options) {
  const ModelPredictor predictor(LoadModel(options.model), options.threads);
  const Model& model = predictor.model();
  const RowsForModel test(options.data, options.memory, model.schema(), options.threads, {});
  RequireTargets(test, model.schema());
  const std::vector<Note>& notes = test.rows().notes();
  const TargetScores scores = Score(options, predictor, test);
  TellNotes(notes);
  const std::vector<std::string>& classes = model.schema().classes;
  WriteOut(options.json ? JsonReport(classes, scores, notes) : HumanReport(classes, scores));
  return kGood;
}

}  // namespace

Command AddEvaluate(CLI::App* program) {
  CLI::App* app =
      program->add_subcommand("evaluate", "Score a model on a table with known targets");
  app->footer(kEvaluateExample);
  const auto options = std::make_shared<EvaluateOptions>();
  AddTestOptions(app, options.get());
  app->add_flag("--json", options->json, "Print the scores as one JSON object");
  return {app, [options] { return RunEvaluate(*options); }};
}

}  // namespace fathom::cli
