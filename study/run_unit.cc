#include "study/run_unit.h"

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>

#include "fathom/base/error.h"
#include "fathom/evaluate/class_metrics.h"
#include "fathom/evaluate/metrics.h"

namespace fathom {

namespace {

using Json = nlohmann::ordered_json;

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

Prediction PredictionRows(const Prediction& prediction, const std::vector<Index>& rows) {
  Prediction part;
  part.weights = prediction.weights;
  part.observations = prediction.observations;
  for (const Moments& component : prediction.components)
    part.components.emplace_back(component.mean(rows, Eigen::all), component.var(rows, Eigen::all));
  return part;
}

Json RequireFinite(Json scores) {
  for (const auto& [name, value] : scores.items()) {
    if (!std::isfinite(value.get<double>()))
      throw NumericalError("the score " + name + " is " + std::to_string(value.get<double>()));
  }
  return scores;
}

Json ScoresJson(const Prediction& prediction, const Matrix& targets) {
  const Scores scores = Evaluate(prediction, targets);
  return RequireFinite({{"rows", scores.rows},
                        {"log_likelihood", scores.mean_log_likelihood},
                        {"rmse", scores.rmse},
                        {"mae", scores.mae},
                        {"crps", scores.crps},
                        {"coverage_50", scores.coverage_50},
                        {"coverage_95", scores.coverage_95},
                        {"calibration_error", scores.calibration_error}});
}

Json ClassScoresJson(const Matrix& probability, const Matrix& labels) {
  const ClassScores scores = EvaluateClasses(probability, labels);
  return RequireFinite({{"rows", scores.rows},
                        {"log_likelihood", scores.mean_log_likelihood},
                        {"accuracy", scores.accuracy},
                        {"brier", scores.brier},
                        {"calibration_error", scores.calibration_error}});
}

// Scores of all test rows and, where some of them were seen in training, of those that were not.
void AddScores(const Predictor& predictor, const Dataset& test, const std::vector<Index>& unseen,
               Json* result) {
  const bool some_seen = !unseen.empty() && static_cast<Index>(unseen.size()) < test.rows();
  const Matrix unseen_targets = test.targets(unseen, Eigen::all);
  if (test.schema.classes.empty()) {
    const Prediction prediction = predictor.Predict(test.inputs);
    (*result)["scores"] = ScoresJson(prediction, test.targets);
    if (some_seen)
      (*result)["unseen"] = ScoresJson(PredictionRows(prediction, unseen), unseen_targets);
  } else {
    const Matrix probability = predictor.ClassProbabilities(test.inputs);
    (*result)["scores"] = ClassScoresJson(probability, test.targets);
    if (some_seen)
      (*result)["unseen"] = ClassScoresJson(probability(unseen, Eigen::all), unseen_targets);
  }
}

}  // namespace

Json RunUnit(const SplitData& data, const Split& split, const Method& method) {
  const Dataset train = MakeDataset(TableRows(data.table, split.train), data.roles);
  const Table test_table = TableRows(data.table, split.held_out);
  const Dataset test = InputRows(test_table, train.schema).Read();
  const double start = CpuSeconds();
  const std::unique_ptr<Predictor> predictor = method.Fit(train);
  const double fitted = CpuSeconds();
  Json result;
  AddScores(*predictor, test, UnseenRows(data.table, split), &result);
  result["train_rows"] = train.rows();
  result["test_rows"] = test.rows();
  result["inputs"] = train.inputs.cols();
  result["fit_seconds"] = std::round(1000 * (fitted - start)) / 1000;
  return result;
}

}  // namespace fathom
