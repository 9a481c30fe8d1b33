#include "study/run_unit.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>

#include "fathom/base/error.h"
#include "fathom/evaluate/score_kinds.h"

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

// The scores that studies record. The log likelihood, by which methods are ranked, stands first.
template <typename AnyScores>
Json ScoresJson(const AnyScores& scores) {
  std::vector<NamedScore> named = NamedScores(scores);
  std::stable_partition(named.begin(), named.end(), [](const NamedScore& score) {
    return score.kind->IsCalled("log_likelihood");
  });
  Json json = {{"rows", scores.rows}};
  for (const auto& [kind, value] : named) {
    if (!kind->in_studies) continue;
    const std::string name = kind->study_key;
    if (!std::isfinite(value))
      throw NumericalError("the score " + name + " is " + std::to_string(value));
    json[name] = value;
  }
  return json;
}

// Scores of all test rows and, where some of them were seen in training, of those that were not.
void AddScores(const Predictor& predictor, const Dataset& test, const std::vector<Index>& unseen,
               Json* result) {
  const bool some_seen = !unseen.empty() && static_cast<Index>(unseen.size()) < test.rows();
  const Matrix unseen_targets = test.targets(unseen, Eigen::all);
  if (test.schema.classes.empty()) {
    const Prediction prediction = predictor.Predict(test.inputs);
    (*result)["scores"] = ScoresJson(Evaluate(prediction, test.targets));
    if (some_seen)
      (*result)["unseen"] =
          ScoresJson(Evaluate(PredictionRows(prediction, unseen), unseen_targets));
  } else {
    const Matrix probability = predictor.ClassProbabilities(test.inputs);
    (*result)["scores"] = ScoresJson(EvaluateClasses(probability, test.targets));
    if (some_seen)
      (*result)["unseen"] =
          ScoresJson(EvaluateClasses(probability(unseen, Eigen::all), unseen_targets));
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
