#include "fathom/fit/cross_validate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

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

constexpr double ClassScores::*kClassScores[] = {&ClassScores::mean_log_likelihood,
                                                 &ClassScores::accuracy, &ClassScores::brier,
                                                 &ClassScores::calibration_error};

template <typename AnyScores>
void Summarize(std::span<double AnyScores::*const> scores, FoldScores<AnyScores>* result) {
  const auto folds = static_cast<double>(result->folds.size());
  for (const auto score : scores) {
    double sum = 0;
    double squares = 0;
    for (const AnyScores& fold : result->folds) sum += fold.*score;
    const double mean = sum / folds;
    for (const AnyScores& fold : result->folds)
      squares += (fold.*score - mean) * (fold.*score - mean);
    result->mean.*score = mean;
    result->standard_error.*score = std::sqrt(squares / (folds - 1) / folds);
  }
  for (const AnyScores& fold : result->folds) result->mean.rows += fold.rows;
}

void Summarize(Index classes, CrossValidation* result) {
  if (classes == 0) {
    Summarize<Scores>(kScores, &result->numbers);
    return;
  }
  Summarize<ClassScores>(kClassScores, &result->classes);
  auto& confusion = result->classes.mean.confusion;
  confusion.setZero(classes, classes);
  for (const ClassScores& fold : result->classes.folds) confusion += fold.confusion;
}

// Puts the held-out rows of each fold where they belong.
void CollectNumbers(const std::vector<Split>& splits, const std::vector<Prediction>& predictions,
                    const Dataset& dataset, Moments* all) {
  *all = Moments(dataset.rows(), dataset.targets.cols());
  all->mean.setConstant(std::numeric_limits<double>::quiet_NaN());
  all->var = all->mean;
  for (std::size_t fold = 0; fold < splits.size(); ++fold) {
    const std::vector<Index>& rows = splits[fold].held_out;
    all->mean(rows, Eigen::all) = predictions[fold].Mean();
    all->var(rows, Eigen::all) = predictions[fold].Variance();
  }
}

}  // namespace

CrossValidation CrossValidate(const Dataset& dataset, const Recipe& recipe,
                              const std::vector<Split>& splits, const PredictOptions& predict) {
  Require(splits.size() >= 2, "number of folds", "at least 2", splits.size());
  const auto classes = static_cast<Index>(dataset.schema.classes.size());
  CrossValidation result;
  result.fold_of_row.assign(static_cast<std::size_t>(dataset.rows()), -1);
  if (classes == 0) {
    result.numbers.folds.resize(splits.size());
  } else {
    result.classes.folds.resize(splits.size());
    result.probability.setConstant(dataset.rows(), classes,
                                   std::numeric_limits<double>::quiet_NaN());
  }
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
    if (classes > 0) {
      const Matrix probability = model.ClassProbabilities(held_out.inputs, predict);
      result.classes.folds[number] = EvaluateClasses(probability, held_out.targets);
      result.probability(split.held_out, Eigen::all) = probability;  // rows of this fold alone
    } else {
      predictions[number] = model.Predict(held_out.inputs, predict);
      result.numbers.folds[number] = Evaluate(predictions[number], held_out.targets);
    }
  });
  if (classes == 0) CollectNumbers(splits, predictions, dataset, &result.out_of_fold);
  for (std::size_t fold = 0; fold < splits.size(); ++fold) {
    for (const Index row : splits[fold].held_out)
      result.fold_of_row[static_cast<std::size_t>(row)] = static_cast<Index>(fold);
  }
  Summarize(classes, &result);
  return result;
}

}  // namespace fathom
