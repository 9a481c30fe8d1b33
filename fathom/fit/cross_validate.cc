#include "fathom/fit/cross_validate.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <string>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/threads.h"
#include "fathom/distributed/communicator.h"
#include "fathom/fitted/prediction_table.h"

namespace fathom {

namespace {

// The prediction with its mean and variance alone.
TargetPrediction MomentsOf(TargetPrediction prediction) {
  if (auto* numbers = std::get_if<Prediction>(&prediction))
    return Prediction::Gaussian(Moments(numbers->Mean(), numbers->Variance()));
  return prediction;
}

// A matrix of so many rows: those of `part` at `rows`, the others as they were, or NaN.
void PutRows(const Matrix& part, const std::vector<Index>& rows, Index all_rows, Matrix* all) {
  if (all->size() == 0)
    all->setConstant(all_rows, part.cols(), std::numeric_limits<double>::quiet_NaN());
  (*all)(rows, Eigen::all) = part;
}

// Puts the predictions of the folds where their rows are in the table.
TargetPrediction Gather(const std::vector<TargetPrediction>& folds,
                        const std::vector<Split>& splits, Index rows) {
  Moments moments;
  ClassPrediction classes;
  for (std::size_t fold = 0; fold < folds.size(); ++fold) {
    const std::vector<Index>& held_out = splits[fold].held_out;
    if (const auto* numbers = std::get_if<Prediction>(&folds[fold])) {
      PutRows(numbers->components[0].mean, held_out, rows, &moments.mean);
      PutRows(numbers->components[0].var, held_out, rows, &moments.var);
    } else {
      PutRows(std::get<ClassPrediction>(folds[fold]).probability, held_out, rows,
              &classes.probability);
    }
  }
  if (classes.probability.size() > 0) return classes;
  return Prediction::Gaussian(std::move(moments));
}

// [N, targets x probabilities]: the quantiles of each row; of classes, none.
Matrix QuantilesOf(const TargetPrediction& prediction, const std::vector<double>& probabilities) {
  const auto* numbers = std::get_if<Prediction>(&prediction);
  if (numbers == nullptr) return {};
  const std::vector<RowQuantile> of_rows = RowQuantiles(*numbers, probabilities);
  const auto count = static_cast<Index>(probabilities.size());
  Matrix quantiles(numbers->rows(), numbers->outputs() * count);
  for (Index n = 0; n < quantiles.rows(); ++n) {
    for (Index k = 0; k < quantiles.cols(); ++k) quantiles(n, k) = of_rows[k % count](n, k / count);
  }
  return quantiles;
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

// [rows]: the fold in which each row is held out, or -1. Throws Error unless the splits are some.
std::vector<Index> FoldsOfRows(Index rows, const std::vector<Split>& splits) {
  Require(!splits.empty(), "number of folds", "at least 1", splits.size());
  std::vector<Index> fold_of_row(static_cast<std::size_t>(rows), -1);
  const auto check = [&](std::size_t fold, Index row) {
    if (row < 0 || row >= rows)
      ThrowError("fold ", fold + 1, " names row ", row, ", where the rows count from 0 to ",
                 rows - 1);
  };
  for (std::size_t fold = 0; fold < splits.size(); ++fold) {
    const Split& split = splits[fold];
    if (split.train.empty() || split.held_out.empty())
      ThrowError("fold ", fold + 1, " has no rows to ", split.train.empty() ? "train on" : "score");
    for (const Index row : split.train) check(fold, row);
    for (const Index row : split.held_out) {
      check(fold, row);
      Index& place = fold_of_row[static_cast<std::size_t>(row)];
      if (place >= 0) ThrowError("row ", row, " is held out in two folds");
      place = static_cast<Index>(fold);
    }
  }
  return fold_of_row;
}

}  // namespace

CrossValidation CrossValidate(const Dataset& dataset, const Recipe& recipe,
                              const std::vector<Split>& splits,
                              const CrossValidationControl& control) {
  CheckRecipe(recipe);
  CrossValidation result;
  result.fold_of_row = FoldsOfRows(dataset.rows(), splits);
  std::vector<std::vector<Evaluation>> scores(splits.size());
  std::vector<TargetPrediction> predictions(splits.size());
  std::vector<Matrix> quantiles(splits.size());
  const bool in_turn = control.ranks != nullptr && control.ranks->size() > 1;
  const ThreadPool pool(in_turn ? 1 : recipe.threads);
  Recipe inner = recipe;
  // Threads that no fold would use work inside the folds.
  if (!in_turn) inner.threads = std::max(1, pool.size() / static_cast<int>(splits.size()));
  FoldProgress progress(splits.size(), control);
  // Writes to the places of the fold alone.
  const auto run_fold = [&](Index fold) {
    const auto number = static_cast<std::size_t>(fold);
    const Split& split = splits[number];
    if (progress.stopped()) return;
    const auto show = [&](const Progress& step) {
      return progress.Show(number, step.fraction, false);
    };
    Model trained =
        Fit(Subset(dataset, split.train), inner, {.callback = show, .ranks = control.ranks});
    if (progress.stopped()) return;
    const ModelPredictor model(std::move(trained), inner.threads);
    const Dataset held_out = Subset(dataset, split.held_out);
    const TargetPrediction prediction = PredictTargets(model, held_out.inputs());
    scores[number] = EvaluateEach(prediction, held_out.targets());
    if (!control.quantiles.empty()) quantiles[number] = QuantilesOf(prediction, control.quantiles);
    predictions[number] = MomentsOf(prediction);
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
  if (result.interrupted) return result;
  result.scores = SummarizeEach(scores);
  result.out_of_fold = Gather(predictions, splits, dataset.rows());
  for (std::size_t fold = 0; fold < splits.size(); ++fold) {
    if (quantiles[fold].size() > 0)
      PutRows(quantiles[fold], splits[fold].held_out, dataset.rows(), &result.quantiles);
  }
  return result;
}

}  // namespace fathom
