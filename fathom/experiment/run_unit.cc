#include "fathom/experiment/run_unit.h"

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>

#include "fathom/base/error.h"
#include "fathom/evaluate/metrics.h"

namespace fathom {

namespace {

using Json = nlohmann::ordered_json;

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

Prediction PredictionRows(const Prediction& prediction, const std::vector<Index>& rows) {
  Prediction part;
  part.weights = prediction.weights;
  for (const Moments& component : prediction.components)
    part.components.emplace_back(component.mean(rows, Eigen::all), component.var(rows, Eigen::all));
  return part;
}

Json ScoresJson(const Prediction& prediction, const Matrix& targets) {
  const Scores scores = Evaluate(prediction, targets);
  Json json = {{"rows", scores.rows},
               {"log_likelihood", scores.mean_log_likelihood},
               {"rmse", scores.rmse},
               {"mae", scores.mae},
               {"crps", scores.crps},
               {"coverage_50", scores.coverage_50},
               {"coverage_95", scores.coverage_95},
               {"calibration_error", scores.calibration_error}};
  for (const auto& [name, value] : json.items()) {
    if (!std::isfinite(value.get<double>()))
      throw NumericalError("the score " + name + " is " + std::to_string(value.get<double>()));
  }
  return json;
}

}  // namespace

Json RunUnit(const SplitData& data, const Split& split, const Method& method) {
  const Dataset train = MakeDataset(TableRows(data.table, split.train), data.roles);
  const Table test_table = TableRows(data.table, split.held_out);
  const Dataset test = InputRows(test_table, train.schema).Read();
  const double start = CpuSeconds();
  const std::unique_ptr<Predictor> predictor = method.Fit(train);
  const double fitted = CpuSeconds();
  const Prediction prediction = predictor->Predict(test.inputs);

  Json result;
  result["scores"] = ScoresJson(prediction, test.targets);
  const std::vector<Index> unseen = UnseenRows(data.table, split);
  if (!unseen.empty() && unseen.size() < split.held_out.size())
    result["unseen"] =
        ScoresJson(PredictionRows(prediction, unseen), test.targets(unseen, Eigen::all));
  result["train_rows"] = train.rows();
  result["test_rows"] = test.rows();
  result["inputs"] = train.inputs.cols();
  result["fit_seconds"] = std::round(1000 * (fitted - start)) / 1000;
  return result;
}

}  // namespace fathom
