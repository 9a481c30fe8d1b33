// How good predicted probabilities of classes are.
#ifndef FATHOM_EVALUATE_CLASS_METRICS_H_
#define FATHOM_EVALUATE_CLASS_METRICS_H_

#include <array>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/base/types.h"

namespace fathom FATHOM_PUBLIC {

// Means over rows. p_c is the predicted probability of class c; the predicted class is the one with
// the largest, the first of several.
struct ClassScores {
  double mean_log_likelihood = 0;  // log p of the true class; larger is better
  double accuracy = 0;             // share of rows whose predicted class is the true one
  double brier = 0;                // sum_c (p_c - 1[c is true])^2, from 0 to 2
  // Expected calibration error: rows in ten equal bins by the probability of their predicted class;
  // mean over rows of |share of right rows in the bin - mean probability in the bin|.
  double calibration_error = 0;
  Index rows = 0;  // rows scored
  // [true class, predicted class]: rows.
  Eigen::Matrix<Index, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> confusion;
};

// probability is [N, classes]; labels [N, 1] are the true classes, counted from 0. Rows whose class
// is missing (NaN) are left out. Throws Error if the shapes differ, a label is no class, or no row
// is left.
ClassScores EvaluateClasses(const Matrix& probability, const Matrix& labels);

// Rows whose predicted class has about the same probability.
struct ReliabilityBin {
  double probability = 0;  // mean, of the predicted class
  double right = 0;        // share of rows whose predicted class is the true one
  Index rows = 0;
};

// The same for rows that come in pieces; any pieces give the same bits.
class ClassScoreSums {
 public:
  void Add(const Matrix& probability, const Matrix& labels);
  Index rows() const { return sums_.rows; }  // whose class is known, so far
  ClassScores Means() const;
  // Those of ten equal bins that have rows, by ascending probability.
  std::vector<ReliabilityBin> Reliability() const;

 private:
  ClassScores sums_;
  std::array<ReliabilityBin, 10> bins_;  // sums over rows
};

}  // namespace fathom

#endif  // FATHOM_EVALUATE_CLASS_METRICS_H_
