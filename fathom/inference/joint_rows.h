// How the values of a deep GP's functions at several rows hang together. A prediction says of each
// row alone what its value may be; two rows that lie close are wrong together.
//
// With certain inputs a function f(x) = w'x + g(x) has the covariance                [joint-rows]
//   cov(f(x), f(x')) = k(x, x') - k(x)'S k(x'),
// whose diagonal is that of [layer-moments]. Above a hidden layer the inputs are uncertain, and
// jointly so: all rows are drawn together through the hidden layers, and the last layer's means m_s
// and covariances C_s of S such draws give, by the law of total covariance,
//   cov = mean_s C_s + mean_s (m_s - m)(m_s - m)'.
#ifndef FATHOM_INFERENCE_JOINT_ROWS_H_
#define FATHOM_INFERENCE_JOINT_ROWS_H_

#include <cstdint>
#include <vector>

#include "fathom/base/threads.h"
#include "fathom/model/conditioned_model.h"

namespace fathom {

struct JointDraws {
  Index samples = 128;  // S
  std::uint64_t seed = 1;
};

// The covariances [N, N] of the first `outputs` functions of the last layer at the rows of x, which
// may be uncertain themselves. A network of one layer under certain inputs needs no draws: its
// covariances are exact. O(S N^2 M), and O(S N^3) where draws go through more than one hidden layer
// or the inputs are uncertain. `gps` are the model's posteriors. Throws NumericalError.
std::vector<Matrix> CovariancesOfRows(const DeepGp& model, const ConditionedModel& gps,
                                      const Moments& x, Index outputs, const JointDraws& draws,
                                      const ThreadPool& pool);

}  // namespace fathom

#endif  // FATHOM_INFERENCE_JOINT_ROWS_H_
