#include "fathom/fit/cross_validate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fathom/base/error.h"
#include "fathom/base/threads.h"

namespace fathom {

namespace {

constexpr double Scores::*kScores[] = {&Scores::rmse,
                                       &Scores::mae,
                                       &Scores::mean_log_likelihood,
                                       &Scores::crps,
                                       &Scores::coverage_50,
                                       &Scores::coverage_90,
                                       &Scores::coverage_95,
                                       &Scores::sharpness,
                                       &Scores::calibration_error,
                                       &Scores::interval_score_95};

void Summarize(CrossValidation* result) {
  const auto folds = static_cast<double>(result->folds.size());
  for (const auto score : kScores) {
    double sum = 0;
    double squares = 0;
    for (const Scores& fold : result->folds) sum += fold.*score;
    const double mean = sum / folds;
    for (const Scores& fold : result->folds) squares += (fold.*score - mean) * (fold.*score - mean);
    result->mean.*score = mean;
    result->standard_error.*score = std::sqrt(squares / (folds - 1) / folds);
  }
  for (const Scores& fold : result->folds) result->mean.rows += fold.rows;
}

}  // namespace

CrossValidation CrossValidate(const Dataset& dataset, const Recipe& recipe,
                              const std::vector<Split>& splits, const PredictOptions& predict) {
  Require(splits.size() >= 2, "number of folds", "at least 2", splits.size());
  CrossValidation result;
  result.folds.resize(splits.size());
  result.fold_of_row.assign(static_cast<std::size_t>(dataset.rows()), -1);
  std::vector<Prediction> predictions(splits.size());
  const ThreadPool pool(recipe.threads);
  Recipe inner = recipe;
  // Threads that no fold would use work inside the folds.
  inner.threads = std::max(1, pool.size() / static_cast<int>(splits.size()));
  pool.Run(static_cast<Index>(splits.size()), [&](Index fold) {
    const auto number = static_cast<std::size_t>(fold);
    const Split& split = splits[number];
    const Dataset held_out = Subset(dataset, split.held_out);
    const ModelPredictor model(Fit(Subset(dataset, split.train), inner), inner.threads);
    predictions[number] = model.Predict(held_out.inputs, predict);
    result.folds[number] = Evaluate(predictions[number], held_out.targets);
  });

  const auto nan = std::numeric_limits<double>::quiet_NaN();
  Moments unknown(dataset.rows(), dataset.targets.cols());
  unknown.mean.setConstant(nan);
  unknown.var.setConstant(nan);
  result.out_of_fold.components.assign(predictions[0].components.size(), unknown);
  result.out_of_fold.weights = predictions[0].weights;
  for (std::size_t fold = 0; fold < splits.size(); ++fold) {
    const std::vector<Index>& rows = splits[fold].held_out;
    for (std::size_t s = 0; s < predictions[fold].components.size(); ++s) {
      const Moments& part = predictions[fold].components[s];
      result.out_of_fold.components[s].mean(rows, Eigen::all) = part.mean;
      result.out_of_fold.components[s].var(rows, Eigen::all) = part.var;
    }
    for (const Index row : rows)
      result.fold_of_row[static_cast<std::size_t>(row)] = static_cast<Index>(fold);
  }
  Summarize(&result);
  return result;
}

}  // namespace fathom
