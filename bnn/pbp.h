// The state of PBP and how rows and epochs change it.
#ifndef FATHOM_BNN_PBP_H_
#define FATHOM_BNN_PBP_H_

#include <functional>
#include <span>

#include "bnn/pbp_network.h"

namespace fathom::bnn {

// What is believed of a precision.
struct GammaBelief {
  double shape = 6, rate = 6;

  double Variance() const { return rate / (shape - 1); }  // E[1 / precision]
};

// The belief after a Gaussian factor of total variance v + 1/precision whose residual has that
// square: keeps the first two moments of the precision, with a Gaussian of the same variance in
// place of Student's t. With t_k = v + b/(a - 1 + k), L_k = -1/2 (log t_k + r^2/t_k),
//   E = L2 - 2 L1 + L0,  Q = a expm1(E) + exp(E),  a' = a/Q,  b' = b exp(L0 - L1)/Q   [pbp-gamma]
// False, and nothing changes, if that is no gamma distribution with a mean of 1/precision.
bool UpdateGamma(double squared_residual, double variance, GammaBelief* belief);

struct PbpState {
  GaussianWeights weights;
  GammaBelief noise, prior;  // of the noise's precision, and of all weights'
  // The natural parameters of each weight's approximate prior factor: precision, precision times
  // mean, added shape, and minus the added rate.
  Vector v_nat, m_nat, a_nat, b_nat;
  // Updates that would have left the range of the beliefs.
  Index refused_weights = 0, refused_gammas = 0, skipped_factors = 0;

  // All that changes; see job.h.
  template <typename Visitor>
  void Visit(const Visitor& visit) {
    constexpr Index kMost = Index{1} << 52;
    visit("weights.mean", &weights.M);
    visit("weights.variance", &weights.V);
    visit("noise.shape", &noise.shape);
    visit("noise.rate", &noise.rate);
    visit("prior.shape", &prior.shape);
    visit("prior.rate", &prior.rate);
    visit("v_nat", &v_nat);
    visit("m_nat", &m_nat);
    visit("a_nat", &a_nat);
    visit("b_nat", &b_nat);
    visit("refused_weights", &refused_weights, kMost);
    visit("refused_gammas", &refused_gammas, kMost);
    visit("skipped_factors", &skipped_factors, kMost);
  }

  // Means N(0, 1/(n_in + 1)), all else as the prior has it.
  static PbpState Start(const MlpShape& shape, RandomStream* stream);
  // The same with given means.
  static PbpState Start(const Vector& means);
};

// Scratch of PbpUpdate.
struct PbpScratch {
  PbpTape tape;
  GaussianWeights gradient;
};

// Assumed density filtering with one row: moments x [1, inputs] and target y.
void PbpUpdate(const MlpShape& shape, const Moments& x, double y, PbpScratch* scratch,
               PbpState* state);

// Takes each prior factor N(w; 0, 1/precision) out in turn, in the order of the weights, and puts
// it in again.                                                                         [pbp-prior]
void RefinePrior(PbpState* state);

// One pass over rows of moments x [N, inputs] in the given order; RefinePrior comes after it.
// `go_on` is asked after each row; if it says no, the pass ends there and returns false.
bool PbpPass(const MlpShape& shape, const Moments& x, const Vector& y, std::span<const Index> order,
             const std::function<bool()>& go_on, PbpState* state);

// Moments of y: those of f, plus the noise.
Moments PbpPredict(const MlpShape& shape, const PbpState& state, const Moments& x);

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_PBP_H_
