// How well a recipe predicts rows that it has not seen.
#ifndef FATHOM_FIT_CROSS_VALIDATE_H_
#define FATHOM_FIT_CROSS_VALIDATE_H_

#include <functional>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/data/split.h"
#include "fathom/evaluate/evaluation.h"
#include "fathom/fit/fit.h"

namespace fathom FATHOM_PUBLIC {

struct CrossValidation {
  FoldScores scores;
  // The prediction of every row that was held out, by the model that has not seen it; for numbers,
  // its mean and variance. NaN for the other rows.
  TargetPrediction out_of_fold;
  std::vector<Index> fold_of_row;  // -1 for a row that was never held out
  // [rows, targets x quantiles that were asked for]: those of the first target first. Classes have
  // none.
  Matrix quantiles;
  bool interrupted = false;  // by the control, and nothing else here holds
};

struct CrossValidationProgress {
  Index folds_done = 0;
  double fraction = 0;  // of all the work
};

// What accompanies a cross-validation. Nothing here changes what is predicted.
struct CrossValidationControl {
  std::vector<double> quantiles = {};  // to return for every row that is held out
  // Is called after each step of any fold and after each fold, from any thread, one call at a time;
  // returning false ends it.
  std::function<bool(const CrossValidationProgress&)> callback = nullptr;
  // As in FitControl. With several, one fold comes after the other, and all ranks work on it.
  const Communicator* ranks = nullptr;
};

// Fits to the training rows of each split and scores the held-out ones. Folds run side by side on
// recipe.threads threads; the result does not depend on their number.
CrossValidation CrossValidate(const Dataset& dataset, const Recipe& recipe,
                              const std::vector<Split>& splits,
                              const CrossValidationControl& control = {});

}  // namespace fathom

#endif  // FATHOM_FIT_CROSS_VALIDATE_H_
