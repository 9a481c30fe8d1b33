#include "study/run_unit.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>

#include "fathom/base/error.h"
#include "fathom/evaluate/evaluation.h"

namespace fathom {

namespace {

using Json = nlohmann::ordered_json;

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// The scores that studies record. The log likelihood, by which methods are ranked, stands first.
Json ScoresJson(const Evaluation& scores) {
  std::vector<NamedScore> named = NamedScores(scores);
  std::stable_partition(named.begin(), named.end(), [](const NamedScore& score) {
    return score.kind->IsCalled("log_likelihood");
  });
  Json json = {{"rows", ScoredRows(scores)}};
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
  const TargetPrediction prediction = predictor.Predict(test.inputs);
  (*result)["scores"] = ScoresJson(Evaluate(prediction, test.targets));
  if (!some_seen) return;
  (*result)["unseen"] =
      ScoresJson(Evaluate(Subset(prediction, unseen), test.targets(unseen, Eigen::all)));
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
