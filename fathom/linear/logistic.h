// Logistic regression: the straight line of classes. With one row of scores per row of x,
//   P(y = c) = exp(s_c) / sum_k exp(s_k),   s = x'W + b,
//   maximise  sum_n c_n log P(y_n) - penalty / 2 |W|^2                                  [logistic]
// by steps with a bound on the curvature that is the same in every step and for every class:
//   W += (X'X / 2 + penalty)^-1 (X'(Y - P) - penalty W),
// Y being the indicators of the classes. Every step raises the objective, whatever the data.
#ifndef FATHOM_LINEAR_LOGISTIC_H_
#define FATHOM_LINEAR_LOGISTIC_H_

#include <cstdint>
#include <span>

#include "fathom/base/types.h"

namespace fathom {

struct Logistic {
  Matrix weights;    // [D, classes]
  Vector intercept;  // [classes]

  Index inputs() const { return weights.rows(); }
  Index classes() const { return weights.cols(); }
};

// `labels` [N] are classes from 0 on; `weights` [N], or empty: a row counts as so many. Uncertain
// cells count with their means.
Logistic FitLogistic(const Moments& x, const Vector& labels, Index classes, double penalty,
                     const Vector& weights = {});

// [N, classes]. An uncertain cell makes the scores uncertain, and the probabilities more even:
// scores with a standard deviation s are divided by sqrt(1 + pi s^2 / 8).
Matrix LogisticScores(const Logistic& logistic, const Moments& x);
Matrix LogisticProbabilities(const Logistic& logistic, const Moments& x);

struct LogisticFit {
  Logistic logistic;       // from all rows
  double penalty = 1;      // the best for rows that were left out
  Vector log_probability;  // [N]: of each row's class, by the regression without its fold
};
LogisticFit CrossFitLogistic(const Moments& x, const Vector& labels, Index classes,
                             std::span<const std::int32_t> fold_of_row, const Vector& weights = {});

}  // namespace fathom

#endif  // FATHOM_LINEAR_LOGISTIC_H_
