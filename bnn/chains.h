// The draws of several chains, and whether they agree.
#ifndef FATHOM_BNN_CHAINS_H_
#define FATHOM_BNN_CHAINS_H_

#include <functional>
#include <vector>

#include "bnn/mlp.h"

namespace fathom::bnn {

// What a chain has kept, in its order.
struct Chain {
  Matrix weights;  // [draws, weights], of which the first size() count
  Vector noise;    // [draws], variances
  Index kept = 0;

  Chain() = default;
  Chain(Index draws, Index weights_each) : weights(draws, weights_each), noise(draws) {}
  Index size() const { return kept; }
  void Keep(const Vector& w, double noise_variance);
};

// All draws of all chains one after the other, each counting the same.
struct PooledDraws {
  Matrix weights;  // [S, weights]
  Vector noise;    // [S]
};
PooledDraws Pool(const std::vector<Chain>& chains);

// Over many scalars: the median and the worst.
struct Agreement {
  double median_rhat = 0, worst_rhat = 0, median_ess = 0, least_ess = 0;
};

// traces[k] is [chains, T]: a scalar in every draw. NaN where there are too few draws to say.
Agreement AgreementOf(const std::vector<Matrix>& traces);

// Whether the chains agree about the outputs at the rows of X. Chains are cut to the shortest.
Agreement AgreementOfOutputs(const MlpShape& shape, const std::vector<Chain>& chains,
                             const Matrix& X);

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_CHAINS_H_
