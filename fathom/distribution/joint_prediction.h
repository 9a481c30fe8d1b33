// The predictive distribution of N rows together. A Prediction says of each row what its target may
// be; here two rows may also be off together. The rows share
//   - which part of the mixture is true (a member of an ensemble);
//   - and within it the errors of the functions: in row n, xi_n sqrt(share_n var_n) of a component
//     is common, xi ~ N(0, R), and the rest of its variance is the row's own.
// What is observed of the functions follows row by row. So every row alone has the distribution
// that its Prediction says.
#ifndef FATHOM_DISTRIBUTION_JOINT_PREDICTION_H_
#define FATHOM_DISTRIBUTION_JOINT_PREDICTION_H_

#include <cstdint>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/base/threads.h"
#include "fathom/distribution/prediction.h"

namespace fathom FATHOM_PUBLIC {

struct JointPart {
  double weight = 1;
  Prediction rows;                   // each row alone; function t is behind target t
  std::vector<Matrix> share;         // one [N, targets] for each component: from 0 to 1
  std::vector<Matrix> correlations;  // R [N, N] of each target
};

struct JointPrediction {
  std::vector<JointPart> parts;  // their weights sum to 1

  Index rows() const { return parts.front().rows.rows(); }
  Index targets() const { return parts.front().rows.outputs(); }

  Matrix Mean() const;      // [N, targets]
  Matrix Variance() const;  // [N, targets]
  // [N, N] of each target. By the law of total covariance over the parts, and in each of them
  //   cov(y_n, y_m) = sum_k R_nm^k b_k(n) b_k(m),  b_k = E[E[y | xi] he_k(xi)],  [joint-rows-of-y]
  // he_k the normalised Hermite polynomials (Mehler's formula). If y is Gaussian given the
  // component, b_1 is all there is. The diagonal is Variance().
  std::vector<Matrix> Covariances(const ThreadPool& pool) const;
  // [N, targets S]: S draws of all rows together; draw s of target t is in column t S + s.
  Matrix Draws(Index samples, std::uint64_t seed, const ThreadPool& pool) const;
};

}  // namespace fathom

#endif  // FATHOM_DISTRIBUTION_JOINT_PREDICTION_H_
