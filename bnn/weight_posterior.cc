#include "bnn/weight_posterior.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fathom/base/error.h"

namespace fathom::bnn {

namespace {

const double kLogTwoPi = std::log(2 * std::numbers::pi);

// Calls visit(first, count) for one tile of rows after the other.
template <typename Visit>
void ForEachTile(Index rows, const Visit& visit) {
  for (Index first = 0; first < rows; first += kTileRows)
    visit(first, std::min(kTileRows, rows - first));
}

double SumSquaredResiduals(const Mlp& mlp, const SingleRows& rows, MlpTape* tape, Vector* descent) {
  return ReluResiduals(mlp, rows.X, rows.y, tape, descent);
}

template <typename SomeRows>
LogPosterior LogPosteriorGiven(const Mlp& mlp, const SomeRows& rows, const WeightPrior& prior,
                               double noise_variance, MlpTape* tape, Vector* gradient) {
  LogPosterior out;
  if (gradient != nullptr) gradient->setZero(mlp.weights.size());
  out.squared_residuals = SumSquaredResiduals(mlp, rows, tape, gradient);
  out.log_likelihood = LogLikelihood(out.squared_residuals, rows.size(), noise_variance);
  out.log_prior = prior.LogDensity(mlp.weights);
  if (gradient != nullptr)
    *gradient = *gradient / noise_variance - mlp.weights.cwiseProduct(prior.precisions);
  return out;
}

}  // namespace

double SumSquaredResiduals(const Mlp& mlp, const Rows& rows, MlpTape* tape, Vector* descent,
                           const InputFactors* factors) {
  if (HasOneReluLayer(mlp.shape)) return ReluResiduals(mlp, rows.X, rows.y, tape, descent, factors);
  double sum = 0;
  const auto add = [&](Index first, Index count) {
    MlpForward(mlp, rows.X.middleRows(first, count), tape, factors);
    const Vector residuals = rows.y.segment(first, count) - tape->f;
    sum += residuals.squaredNorm();
    if (descent != nullptr) MlpBackward(mlp, residuals, tape, descent, factors);
  };
  if (factors == nullptr) {
    ForEachTile(rows.size(), add);
  } else {
    add(0, rows.size());
  }
  return sum;
}

double LogLikelihood(double squared_residuals, Index rows, double noise_variance) {
  const auto N = static_cast<double>(rows);
  return -0.5 * (N * (kLogTwoPi + std::log(noise_variance)) + squared_residuals / noise_variance);
}

WeightPrior::WeightPrior(const Vector& variances)
    : precisions(variances.cwiseInverse()),
      log_constant(-0.5 * (kLogTwoPi + variances.array().log()).sum()) {}

double WeightPrior::LogDensity(const Vector& weights) const {
  FATHOM_CHECK(weights.size() == precisions.size());
  return log_constant - 0.5 * (weights.array().square() * precisions.array()).sum();
}

LogPosterior EvaluateLogPosterior(const Mlp& mlp, const Rows& rows, const WeightPrior& prior,
                                  double noise_variance, MlpTape* tape, Vector* gradient) {
  return LogPosteriorGiven(mlp, rows, prior, noise_variance, tape, gradient);
}

LogPosterior EvaluateLogPosterior(const Mlp& mlp, const SingleRows& rows, const WeightPrior& prior,
                                  double noise_variance, MlpTape* tape, Vector* gradient) {
  return LogPosteriorGiven(mlp, rows, prior, noise_variance, tape, gradient);
}

Vector FisherDiagonal(const Mlp& mlp, const Rows& rows, double noise_variance, MlpTape* tape) {
  Vector squares = Vector::Zero(mlp.weights.size());
  ForEachTile(rows.size(), [&](Index first, Index count) {
    MlpForward(mlp, rows.X.middleRows(first, count), tape);
    MlpBackwardSquared(mlp, Vector::Ones(count), tape, nullptr, &squares);
  });
  return squares / noise_variance;
}

}  // namespace fathom::bnn
