// How good predictions with uncertainty are.
#ifndef FATHOM_EVALUATE_METRICS_H_
#define FATHOM_EVALUATE_METRICS_H_

#include <array>

#include "fathom/base/export.h"
#include "fathom/base/threads.h"
#include "fathom/base/types.h"
#include "fathom/distribution/prediction.h"

namespace fathom FATHOM_PUBLIC {

// Means over all cells (rows times outputs), in the units of the targets, unless said otherwise.
// u = F(y) is the probability integral transform: the predictive cdf at the target.
struct Scores {
  double rmse = 0;  // root of the mean of (y - predictive mean)^2
  double mae = 0;   // mean of |y - predictive mean|
  // Mean over rows of log p(y), jointly over outputs; larger is better.
  double mean_log_likelihood = 0;
  double crps = 0;  // continuous ranked probability score, integral of (F(t) - 1[t >= y])^2
  // Of a value that has a probability of its own, the part that lies in the interval counts.
  double coverage_50 = 0;  // share of cells in the central 50 % interval: |2u - 1| <= 0.5
  double coverage_90 = 0;  // |2u - 1| <= 0.9
  double coverage_95 = 0;  // |2u - 1| <= 0.95
  // Mean of |p - coverage of the central p interval| over p = 0.05, 0.10, ..., 0.95.
  double calibration_error = 0;
  double sharpness = 0;  // mean predictive standard deviation; smaller is better if calibrated
  // Gneiting and Raftery 2007, of the central interval [l, h] with alpha = 0.05:
  // (h - l) + 2/alpha max(l - y, 0) + 2/alpha max(y - h, 0)
  double interval_score_95 = 0;
  Index rows = 0;  // rows scored
};

// Cells of y [N, D] that are missing (NaN) are left out: a row counts with the targets that it has.
// Throws Error if the shapes differ or no cell is left.
Scores Evaluate(const Prediction& prediction, const Matrix& y);

// What the scores of each row are made of, as a line of numbers that does not depend on the rows
// beside it. Throws Error if the shapes differ.
Matrix ScoreParts(const Prediction& prediction, const Matrix& y, const ThreadPool& pool);

// The same for rows that come in pieces, so that memory need not grow with them. Any pieces and any
// number of threads give the same bits.
class ScoreSums {
 public:
  // Throws Error if the shapes differ.
  void Add(const Prediction& prediction, const Matrix& y, const ThreadPool& pool);
  void AddParts(const Matrix& parts, const Matrix& y);  // of ScoreParts
  Index rows() const { return sums_.rows; }             // with any target, so far
  // These throw Error if there is no row.
  Scores Means() const;
  // [19]: share of cells in the central interval of p = 0.05, 0.10, ..., 0.95.
  Vector Coverage() const;
  // [10]: share of cells whose u lies in each tenth of [0, 1], 0.1 each if the predictions are
  // honest. A value that has a probability of its own counts in parts.
  Vector Tenths() const;

 private:
  void RequireCells() const;

  static constexpr int kLevels = 19;  // p = 0.05, 0.10, ..., 0.95
  Scores sums_;
  double cells_ = 0;
  std::array<double, kLevels> covered_{};
  std::array<double, 10> tenths_{};
};

// u = F(y) [N, D]. Where F jumps (a component without variance) the middle of the jump, so that a
// certain and right prediction counts as covered. NaN where y is.
Matrix ProbabilityIntegralTransform(const Prediction& prediction, const Matrix& y);

}  // namespace fathom

#endif  // FATHOM_EVALUATE_METRICS_H_
