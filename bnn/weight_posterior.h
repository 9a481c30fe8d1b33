// The posterior of a network's weights given Gaussian noise and independent Gaussian priors:
//   log p(w | y) = sum_n log N(y_n; f_n, s2) + sum_i log N(w_i; 0, v_i) + const
// Everything is built on one pass over the rows, which other methods share.
#ifndef FATHOM_BNN_WEIGHT_POSTERIOR_H_
#define FATHOM_BNN_WEIGHT_POSTERIOR_H_

#include "bnn/relu_residuals.h"

namespace fathom::bnn {

// The rows of a fit, in standardised units.
struct Rows {
  Matrix X;  // [N, inputs]
  Vector y;  // [N]

  Index size() const { return y.size(); }
};

// The same with inputs in single precision, for networks with one hidden layer of ReLU.
struct SingleRows {
  SingleMatrix X;
  Vector y;

  explicit SingleRows(const Rows& rows) : X(rows.X.cast<float>()), y(rows.y) {}
  Index size() const { return y.size(); }
};

// Returns sum_n (y_n - f_n)^2 and, unless it is null, adds sum_n (y_n - f_n) df_n/dw, minus half
// the gradient of that sum, to *descent. Rows with factors are one tile.           [bnn-residuals]
double SumSquaredResiduals(const Mlp& mlp, const Rows& rows, MlpTape* tape, Vector* descent,
                           const InputFactors* factors = nullptr);

// log N(y; f, s2) summed over rows with that sum of squares, constants included.
double LogLikelihood(double squared_residuals, Index rows, double noise_variance);

// Independent N(0, v_i), made ready: a sampler asks for it after every step.
struct WeightPrior {
  Vector precisions;        // 1 / v_i
  double log_constant = 0;  // -1/2 sum_i log(2 pi v_i)

  WeightPrior() = default;
  explicit WeightPrior(const Vector& variances);
  // sum_i log N(w_i; 0, v_i)
  double LogDensity(const Vector& weights) const;
};

struct LogPosterior {
  double log_likelihood = 0, log_prior = 0, squared_residuals = 0;

  double value() const { return log_likelihood + log_prior; }
};

// *gradient, which may be null, becomes that of value().                       [bnn-log-posterior]
LogPosterior EvaluateLogPosterior(const Mlp& mlp, const Rows& rows, const WeightPrior& prior,
                                  double noise_variance, MlpTape* tape, Vector* gradient);
// The same by ReluResiduals in single precision.
LogPosterior EvaluateLogPosterior(const Mlp& mlp, const SingleRows& rows, const WeightPrior& prior,
                                  double noise_variance, MlpTape* tape, Vector* gradient);

// sum_n (df_n/dw)^2 / s2, the diagonal of the Gauss-Newton Hessian of the log likelihood: how
// sharply the rows determine each weight while the others stay.                        [bnn-fisher]
Vector FisherDiagonal(const Mlp& mlp, const Rows& rows, double noise_variance, MlpTape* tape);

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_WEIGHT_POSTERIOR_H_
