#include "bnn/pbp.h"

#include <cmath>

#include "fathom/base/error.h"

namespace fathom::bnn {

namespace {

// A cavity wider than this says nothing about its weight.
constexpr double kWidestCavity = 1e6;

}  // namespace

bool UpdateGamma(double squared_residual, double variance, GammaBelief* belief) {
  const double a = belief->shape;
  const double b = belief->rate;
  const auto L = [&](double k) {
    const double t = variance + b / (a - 1 + k);
    return -0.5 * (std::log(t) + squared_residual / t);
  };
  const double L0 = L(0);
  const double L1 = L(1);
  const double E = L(2) - 2 * L1 + L0;
  const double Q = a * std::expm1(E) + std::exp(E);
  const double shape = a / Q;
  const double rate = b * std::exp(L0 - L1) / Q;
  if (!std::isfinite(shape) || !std::isfinite(rate) || shape <= 1 || rate <= 0) return false;
  *belief = {shape, rate};
  return true;
}

PbpState PbpState::Start(const MlpShape& shape, RandomStream* stream) {
  return Start(DrawWeights(shape.FanInVariances(), stream));
}

PbpState PbpState::Start(const Vector& means) {
  PbpState state;
  const double variance = state.prior.Variance();
  state.weights = {means, Vector::Constant(means.size(), variance)};
  state.v_nat = Vector::Constant(means.size(), 1 / variance);
  state.m_nat = state.a_nat = state.b_nat = Vector::Zero(means.size());
  return state;
}

void PbpUpdate(const MlpShape& shape, const Moments& x, double y, PbpScratch* scratch,
               PbpState* state) {
  PbpForward(shape, state->weights, x, &scratch->tape);
  const double mean = scratch->tape.f.mean(0, 0);
  const double var = scratch->tape.f.var(0, 0);
  const GaussianEvidence evidence(y, mean, var + state->noise.Variance());
  const Moments slopes(Matrix::Constant(1, 1, evidence.d_mean),
                       Matrix::Constant(1, 1, evidence.d_var));
  PbpBackward(shape, state->weights, scratch->tape, slopes, &scratch->gradient);
  state->refused_weights += AdfUpdate(scratch->gradient, &state->weights);
  if (!UpdateGamma((y - mean) * (y - mean), var, &state->noise)) ++state->refused_gammas;
}

void RefinePrior(PbpState* state) {
  for (Index i = 0; i < state->v_nat.size(); ++i) {
    double& M = state->weights.M[i];
    double& V = state->weights.V[i];
    const double precision = 1 / V - state->v_nat[i];
    const double precision_mean = M / V - state->m_nat[i];
    const GammaBelief cavity{state->prior.shape - state->a_nat[i],
                             state->prior.rate + state->b_nat[i]};
    const double v = 1 / precision;
    const bool usable = v > 0 && v < kWidestCavity && cavity.shape > 1 && cavity.rate > 0;
    double mean = precision_mean * v;
    double var = v;
    GammaBelief prior = cavity;
    const GaussianEvidence evidence(0, mean, v + cavity.Variance());
    if (!usable || !UpdateGamma(mean * mean, v, &prior) ||
        !AdfUpdate(evidence.d_mean, evidence.d_var, &mean, &var)) {
      ++state->skipped_factors;
      continue;
    }
    M = mean;
    V = var;
    state->prior = prior;
    state->v_nat[i] = 1 / V - precision;
    state->m_nat[i] = M / V - precision_mean;
    state->a_nat[i] = prior.shape - cavity.shape;
    state->b_nat[i] = cavity.rate - prior.rate;
  }
}

bool PbpPass(const MlpShape& shape, const Moments& x, const Vector& y, std::span<const Index> order,
             const std::function<bool()>& go_on, PbpState* state) {
  PbpScratch scratch;
  for (const Index n : order) {
    PbpUpdate(shape, x.MiddleRows(n, 1), y[n], &scratch, state);
    if (!go_on()) return false;
  }
  return true;
}

Moments PbpPredict(const MlpShape& shape, const PbpState& state, const Moments& x) {
  PbpTape tape;
  PbpForward(shape, state.weights, x, &tape);
  tape.f.var.array() += state.noise.Variance();
  return tape.f;
}

}  // namespace fathom::bnn
