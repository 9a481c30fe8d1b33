#include "fathom/fit/cross_validate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <string>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/threads.h"
#include "fathom/evaluate/score_kinds.h"
#include "fathom/fitted/predictor.h"

namespace fathom {

namespace {

template <typename AnyScores>
void Summarize(FoldScores<AnyScores>* result) {
  const auto folds = static_cast<double>(result->folds.size());
  for (const ScoreField<AnyScores>& field : ScoreFields<AnyScores>()) {
    const auto score = field.value;
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
    Summarize(&result->numbers);
    return;
  }
  Summarize(&result->classes);
  auto& confusion = result->classes.mean.confusion;
  confusion.setZero(classes, classes);
  for (const ClassScores& fold : result->classes.folds) confusion += fold.confusion;
}

// Brings together what the folds report from their threads.
class FoldProgress {
 public:
  FoldProgress(std::size_t folds, const CrossValidationControl& control)
      : fractions_(folds, 0.0), control_(control) {}

  // Whether to go on.
  bool Show(std::size_t fold, double fraction, bool done) {
    const std::lock_guard lock(mutex_);
    sum_ += fraction - std::exchange(fractions_[fold], fraction);
    progress_.folds_done += done ? 1 : 0;
    progress_.fraction = sum_ / static_cast<double>(fractions_.size());
    if (!stopped_ && control_.callback) stopped_ = !control_.callback(progress_);
    return !stopped_;
  }
  bool stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }
  void Stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<double> fractions_;
  double sum_ = 0;
  CrossValidationProgress progress_;
  bool stopped_ = false;
  const CrossValidationControl& control_;
};

}  // namespace

CrossValidation CrossValidate(const Dataset& dataset, const Recipe& recipe,
                              const std::vector<Split>& splits,
                              const CrossValidationControl& control) {
  Require(splits.size() >= 2, "number of folds", "at least 2", splits.size());
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const auto classes = static_cast<Index>(dataset.schema.classes.size());
  CrossValidation result;
  result.fold_of_row.assign(static_cast<std::size_t>(dataset.rows()), -1);
  if (classes == 0) {
    result.numbers.folds.resize(splits.size());
    result.out_of_fold = Moments(dataset.rows(), dataset.targets.cols());
    result.out_of_fold.mean.setConstant(kNone);
    result.out_of_fold.var.setConstant(kNone);
  } else {
    result.classes.folds.resize(splits.size());
    result.probability.setConstant(dataset.rows(), classes, kNone);
  }
  const ThreadPool pool(recipe.threads);
  Recipe inner = recipe;
  // Threads that no fold would use work inside the folds.
  inner.threads = std::max(1, pool.size() / static_cast<int>(splits.size()));
  FoldProgress progress(splits.size(), control);
  // Writes to the places of the fold and of its held-out rows alone.
  const auto run_fold = [&](Index fold) {
    const auto number = static_cast<std::size_t>(fold);
    const Split& split = splits[number];
    if (progress.stopped()) return;
    const auto show = [&](const Progress& step, const MinimizeState&) {
      return progress.Show(number, step.fraction, false);
    };
    Model trained = Fit(Subset(dataset, split.train), inner, {.callback = show});
    if (progress.stopped()) return;
    const ModelPredictor model(std::move(trained), inner.threads);
    const Dataset held_out = Subset(dataset, split.held_out);
    if (classes > 0) {
      const Matrix probability = model.ClassProbabilities(held_out.inputs);
      result.classes.folds[number] = EvaluateClasses(probability, held_out.targets);
      result.probability(split.held_out, Eigen::all) = probability;
    } else {
      const Prediction prediction = model.Predict(held_out.inputs);
      result.numbers.folds[number] = Evaluate(prediction, held_out.targets);
      result.out_of_fold.mean(split.held_out, Eigen::all) = prediction.Mean();
      result.out_of_fold.var(split.held_out, Eigen::all) = prediction.Variance();
    }
    for (const Index row : split.held_out) result.fold_of_row[static_cast<std::size_t>(row)] = fold;
    progress.Show(number, 1, true);
  };
  pool.Run(static_cast<Index>(splits.size()), [&](Index fold) {
    try {
      run_fold(fold);
    } catch (const NumericalError& error) {
      progress.Stop();  // the other folds would be trained for nothing
      throw NumericalError("fold " + std::to_string(fold + 1) + ": " + error.what());
    } catch (...) {
      progress.Stop();
      throw;
    }
  });
  result.interrupted = progress.stopped();
  if (!result.interrupted) Summarize(classes, &result);
  return result;
}

}  // namespace fathom
