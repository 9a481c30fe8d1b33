// Hamiltonian Monte Carlo over the weights of a network, with Gibbs draws of the prior variances
// and of the noise:
//   w in group g ~ N(0, v_g), v_g ~ IG(1, v0_g), v0 = 1/n_in for weights and 1 for biases
//   y ~ N(f, s2), s2 ~ IG(1, 0.01)
#ifndef FATHOM_BNN_HMC_H_
#define FATHOM_BNN_HMC_H_

#include <cstdint>
#include <vector>

#include "bnn/chains.h"
#include "bnn/hmc_steps.h"
#include "bnn/watch.h"
#include "fathom/base/threads.h"

namespace fathom::bnn {

struct HmcOptions {
  Index chains = 4;
  Index burn_in = 500;
  Index draws = 1000;  // of each chain, after burn-in
  Index least_leapfrogs = 75, most_leapfrogs = 150;
  Index start_steps = 1000;  // of Adam, to where a chain starts
  double first_step = 0.05;  // in conditional standard deviations
};

struct HmcChain {
  Chain chain;
  Matrix log_variances;             // [draws, groups + 1]: of the priors, then of the noise
  double acceptance = 0, step = 0;  // mean after burn-in; the averaged step
  Index divergences = 0;            // after burn-in
};

// The chains run on the pool; their results do not depend on it. A chain that was stopped holds
// what it had kept by then.
std::vector<HmcChain> SampleHmc(const MlpShape& shape, const Rows& rows, const HmcOptions& options,
                                std::uint64_t seed, const ThreadPool& pool, Watch* watch);

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_HMC_H_
