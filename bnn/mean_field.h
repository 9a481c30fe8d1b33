// The mean-field posterior of variational inference, q(w) = N(mu, exp(2 rho)) per weight, with the
// noise variance exp(lambda) of the targets, and the negative evidence bound
//   L = beta KL + N/(|B| S) sum_s sum_n 1/2 [log 2 pi + lambda + (y_n - f_s)^2 exp(-lambda)]
// in three forms, which differ in how f_s is drawn and how its gradient is estimated.
#ifndef FATHOM_BNN_MEAN_FIELD_H_
#define FATHOM_BNN_MEAN_FIELD_H_

#include <vector>

#include "bnn/weight_posterior.h"

namespace fathom::bnn {

// Its gradient has the same type.
struct MeanField {
  Vector mu, rho;  // [weights]
  double lambda = 0;

  Vector Sd() const { return rho.array().exp(); }
  Vector Variances() const { return (2 * rho.array()).exp(); }
  // One vector for optimisers: mu, rho, lambda.
  Vector Pack() const;
  static MeanField Unpack(const Vector& packed);
};

struct NormalPrior {
  double mean = 0, variance = 1;
};

// KL(q || prior) summed over the weights.                                               [vi-kl]
//   sum 1/2 (exp(2 rho) + (mu - m0)^2)/tau2 - rho + 1/2 log tau2 - 1/2
double Kl(const MeanField& q, const NormalPrior& prior);
// Adds weight times its gradient: dKL/dmu = (mu - m0)/tau2, dKL/drho = exp(2 rho)/tau2 - 1
void KlBackward(const MeanField& q, const NormalPrior& prior, double weight, MeanField* gradient);
// The same where q.Variances() is at hand.
double Kl(const MeanField& q, const Vector& variances, const NormalPrior& prior);
void KlBackward(const MeanField& q, const Vector& variances, const NormalPrior& prior,
                double weight, MeanField* gradient);

// The prior of all weights under which KL(q || prior) is least (Graves 2011):
//   m0 = mean(mu),  tau2 = mean(exp(2 rho) + (mu - m0)^2)                          [optimal-prior]
NormalPrior OptimalPrior(const MeanField& q);

// The bound without what is random in it.
struct Bound {
  MlpShape shape;
  NormalPrior prior = {};
  double kl_weight = 1;  // beta
  Index rows = 0;        // N, of which a batch is a part
};

struct VariationalLoss {
  double kl = 0, expected_nll = 0;  // kl without its weight

  double value(const Bound& bound) const { return bound.kl_weight * kl + expected_nll; }
};

// The noise of S draws: of every weight, [S][weights]; or of every pre-activation, [layers] of
// [S |B|, n_out], the rows of the first draw first.
using WeightNoise = std::vector<Vector>;
using UnitNoise = std::vector<Matrix>;

// Draws w = mu + exp(rho) eps for all rows of the batch.                              [vi-weight]
//   dL/dmu = G,  dL/drho = G eps exp(rho),  G the gradient at w
// *gradient, which may be null, becomes the loss's.
VariationalLoss WeightFormLoss(const Bound& bound, const MeanField& q, const Rows& batch,
                               const WeightNoise& eps, MeanField* gradient);

// What a pass of the local form leaves behind for the way back. Reused, it allocates nothing.
struct LocalTape {
  // [layers]: the inputs of each and their squares, [rows, n_in + 1], ones in the last column; and
  // eps/sd of its pre-activations, [S |B|, n_out]. The inputs of the first layer, and so their
  // products, are the same for all draws: it has |B| rows.
  std::vector<Matrix> h, squares, ratio;
  std::vector<Matrix> d, e;  // [layers] slopes of the pre-activations, and those times ratio
  Vector variances, f;
  std::vector<Matrix> mean, var;  // [layers] of the pre-activations
  Matrix d_mean, d_h2, by_variance;
};

// Draws every pre-activation of every row (the local reparameterisation of Kingma et al. 2015):
//   a = h mu' + sd eps,  sd = sqrt(h^2 exp(2 rho)')                                    [vi-local]
// and, with d = dL/da and e = d eps / sd,
//   gmu = d' h,   grho = (e' h^2) exp(2 rho),   d_h = d mu + (e exp(2 rho)) h
VariationalLoss LocalFormLoss(const Bound& bound, const MeanField& q, const Rows& batch,
                              const UnitNoise& eps, MeanField* gradient, LocalTape* tape);

// What Graves' estimate takes for the diagonal of the Hessian.
enum class Curvature {
  kSquaredGradients,  // g_n^2, of each row's loss
  kGaussNewton,       // (df_n/dw)^2 / s2
};

// Graves' estimate of the gradient from weight draws, g_n that of one row's loss:
//   dL/dmu = N/(|B| S) sum g_n + (mu - m0)/tau2
//   dL/dvar = N/(2 |B| S) sum curvature_n + 1/2 (1/tau2 - 1/var)                      [vi-graves]
// gradient->rho becomes dL/drho = 2 var dL/dvar.
VariationalLoss GravesLoss(const Bound& bound, const MeanField& q, const Rows& batch,
                           const WeightNoise& eps, Curvature curvature, MeanField* gradient);

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_MEAN_FIELD_H_
