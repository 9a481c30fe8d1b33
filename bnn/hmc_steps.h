// The two moves of Hamiltonian Monte Carlo with a hierarchy: trajectories for the weights, and
// draws from the full conditionals of all variances.
#ifndef FATHOM_BNN_HMC_STEPS_H_
#define FATHOM_BNN_HMC_STEPS_H_

#include <functional>

#include "bnn/weight_posterior.h"

namespace fathom::bnn {

// Where a trajectory stands.
struct HmcPoint {
  Vector weights, momentum;
  LogPosterior log_posterior = {};
  Vector gradient = {};  // of log_posterior.value()

  // H = -log p(w | y) + 1/2 sum_i inverse_mass_i p_i^2                         [hamiltonian-energy]
  double Hamiltonian(const Vector& inverse_mass) const {
    return -log_posterior.value() + 0.5 * (inverse_mass.array() * momentum.array().square()).sum();
  }
};

// The posterior that a trajectory runs on.
using HmcTarget = std::function<LogPosterior(const Vector& weights, Vector* gradient)>;

// One leapfrog step: half a step of momentum, a step of position, half a step of momentum. Its
// error in H falls as step^2, and run with -p it leads back.                             [leapfrog]
void Leapfrog(const HmcTarget& target, const Vector& inverse_mass, double step, HmcPoint* point);

// min(1, exp(H_start - H_end)); 0 where the end is not a number.
double AcceptanceProbability(double start, double end);

// The density is proportional to v^(-shape - 1) exp(-scale / v).
struct InverseGamma {
  double shape = 1, scale = 1;

  double Draw(RandomStream* stream) const;
};

// Given n values whose squares sum to `squares` and that are N(0, v), v ~ prior:
//   v | values ~ IG(shape + n/2, scale + squares/2)                                 [hmc-gibbs]
InverseGamma Conditional(const InverseGamma& prior, double n, double squares);

// Gamma(shape, 1) by Marsaglia and Tsang (2000), shape >= 1.
double DrawGamma(double shape, RandomStream* stream);

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_HMC_STEPS_H_
