#include "bnn/mean_field.h"

#include <algorithm>
#include <cmath>

#include "fathom/base/error.h"

namespace fathom::bnn {

Vector MeanField::Pack() const {
  Vector packed(2 * mu.size() + 1);
  packed << mu, rho, lambda;
  return packed;
}

MeanField MeanField::Unpack(const Vector& packed) {
  const Index weights = packed.size() / 2;
  return {packed.head(weights), packed.segment(weights, weights), packed[2 * weights]};
}

double Kl(const MeanField& q, const NormalPrior& prior) {
  const auto squares = (2 * q.rho.array()).exp() + (q.mu.array() - prior.mean).square();
  return (0.5 * squares / prior.variance - q.rho.array() + 0.5 * std::log(prior.variance) - 0.5)
      .sum();
}

void KlBackward(const MeanField& q, const NormalPrior& prior, double weight, MeanField* gradient) {
  gradient->mu.array() += weight * (q.mu.array() - prior.mean) / prior.variance;
  gradient->rho.array() += weight * ((2 * q.rho.array()).exp() / prior.variance - 1);
}

NormalPrior OptimalPrior(const MeanField& q) {
  const double mean = q.mu.mean();
  return {mean, ((2 * q.rho.array()).exp() + (q.mu.array() - mean).square()).mean()};
}

namespace {

// What all forms do with the squared residuals of S |B| rows: the expected negative log likelihood
// of all N rows, and the slope with respect to lambda.
struct Likelihood {
  double scale = 0;      // N / (|B| S)
  double precision = 0;  // exp(-lambda)

  Likelihood(const MeanField& q, const Rows& batch, const Bound& bound, std::size_t draws)
      : scale(static_cast<double>(bound.rows) / static_cast<double>(batch.size()) /
              static_cast<double>(draws)),
        precision(std::exp(-q.lambda)) {}

  double Expected(double squared_residuals, Index rows) const {
    return -scale * LogLikelihood(squared_residuals, rows, 1 / precision);
  }
  double Slope(double squared_residuals, Index rows) const {
    return 0.5 * scale * (static_cast<double>(rows) - squared_residuals * precision);
  }
};

void SetZero(Index weights, MeanField* gradient) {
  gradient->mu.setZero(weights);
  gradient->rho.setZero(weights);
  gradient->lambda = 0;
}

}  // namespace

VariationalLoss WeightFormLoss(const MlpShape& shape, const MeanField& q, const Rows& batch,
                               const Bound& bound, const WeightNoise& eps, MeanField* gradient) {
  const Likelihood likelihood(q, batch, bound, eps.size());
  VariationalLoss loss{.kl = Kl(q, bound.prior)};
  if (gradient != nullptr) SetZero(q.mu.size(), gradient);
  const Vector sd = q.Sd();
  MlpTape tape;
  for (const Vector& noise : eps) {
    Vector descent = Vector::Zero(q.mu.size());
    const double squares = SumSquaredResiduals(shape, q.mu + sd.cwiseProduct(noise), batch, &tape,
                                               gradient == nullptr ? nullptr : &descent);
    loss.expected_nll += likelihood.Expected(squares, batch.size());
    if (gradient == nullptr) continue;
    const Vector G = -likelihood.scale * likelihood.precision * descent;
    gradient->mu += G;
    gradient->rho.array() += G.array() * noise.array() * sd.array();
    gradient->lambda += likelihood.Slope(squares, batch.size());
  }
  if (gradient != nullptr) KlBackward(q, bound.prior, bound.kl_weight, gradient);
  return loss;
}

namespace {

constexpr double kLeastSd = 1e-12;  // of a pre-activation: it is divided by

struct LocalTape {
  std::vector<Matrix> h, sd;  // [layers] inputs with ones appended; sd of the pre-activations
  Vector f;
};

// `variances` is exp(2 rho); the rows of X are those of all draws.
void LocalForward(const MlpShape& shape, const MeanField& q, const Vector& variances,
                  const Matrix& X, const UnitNoise& eps, LocalTape* tape) {
  tape->h.resize(static_cast<std::size_t>(shape.num_layers()));
  tape->sd.resize(static_cast<std::size_t>(shape.num_layers()));
  Matrix a = X;
  for (Index l = 0; l < shape.num_layers(); ++l) {
    Matrix& h = tape->h[l];
    h.resize(X.rows(), shape.fan_in(l) + 1);
    h.leftCols(shape.fan_in(l)) = a;
    h.col(shape.fan_in(l)).setOnes();
    Matrix& sd = tape->sd[l];
    sd.resize(X.rows(), shape.fan_out(l));
    sd.noalias() = Matrix(h.cwiseAbs2()) * shape.Layer(variances, l).transpose();
    sd = sd.cwiseSqrt().cwiseMax(kLeastSd);
    a.resize(X.rows(), shape.fan_out(l));
    a.noalias() = h * shape.Layer(q.mu, l).transpose();
    a.array() += sd.array() * eps[l].array();
    if (l + 1 < shape.num_layers()) Activate(shape.activation(), a);
  }
  tape->f = a.col(0);
}

// Adds to gradient->mu and gradient->rho.
void LocalBackward(const MlpShape& shape, const MeanField& q, const Vector& variances,
                   const UnitNoise& eps, const LocalTape& tape, const Vector& d_f,
                   MeanField* gradient) {
  Matrix d = d_f;
  for (Index l = shape.num_layers() - 1; l >= 0; --l) {
    const Matrix& h = tape.h[l];
    const Matrix e = d.array() * eps[l].array() / tape.sd[l].array();
    shape.Layer(&gradient->mu, l).noalias() += d.transpose() * h;
    const Matrix by_variance = e.transpose() * Matrix(h.cwiseAbs2());
    shape.Layer(&gradient->rho, l).array() +=
        by_variance.array() * shape.Layer(variances, l).array();
    if (l == 0) return;
    const Index inputs = shape.fan_in(l);
    Matrix below = e * shape.Layer(variances, l).leftCols(inputs);
    below.array() *= h.leftCols(inputs).array();
    below.noalias() += d * shape.Layer(q.mu, l).leftCols(inputs);
    ActivateBackward(shape.activation(), h.leftCols(inputs), below);
    d.swap(below);
  }
}

}  // namespace

VariationalLoss LocalFormLoss(const MlpShape& shape, const MeanField& q, const Rows& batch,
                              const Bound& bound, const UnitNoise& eps, MeanField* gradient) {
  const Index rows = eps.back().rows();
  const Index draws = rows / batch.size();
  FATHOM_CHECK(draws >= 1 && draws * batch.size() == rows);
  const Likelihood likelihood(q, batch, bound, static_cast<std::size_t>(draws));
  const Vector variances = (2 * q.rho.array()).exp();
  LocalTape tape;
  LocalForward(shape, q, variances, batch.X.replicate(draws, 1), eps, &tape);
  const Vector residuals = batch.y.replicate(draws, 1) - tape.f;
  const double squares = residuals.squaredNorm();
  const VariationalLoss loss{.kl = Kl(q, bound.prior),
                             .expected_nll = likelihood.Expected(squares, rows)};
  if (gradient == nullptr) return loss;
  SetZero(q.mu.size(), gradient);
  LocalBackward(shape, q, variances, eps, tape,
                -likelihood.scale * likelihood.precision * residuals, gradient);
  gradient->lambda = likelihood.Slope(squares, rows);
  KlBackward(q, bound.prior, bound.kl_weight, gradient);
  return loss;
}

VariationalLoss GravesLoss(const MlpShape& shape, const MeanField& q, const Rows& batch,
                           const Bound& bound, const WeightNoise& eps, Curvature curvature,
                           MeanField* gradient) {
  const Likelihood likelihood(q, batch, bound, eps.size());
  VariationalLoss loss{.kl = Kl(q, bound.prior)};
  SetZero(q.mu.size(), gradient);
  const Vector sd = q.Sd();
  MlpTape tape;
  for (const Vector& noise : eps) {
    const Vector w = q.mu + sd.cwiseProduct(noise);
    MlpForward(shape, w, batch.X, &tape);
    const Vector residuals = batch.y - tape.f;
    const Vector slopes = -likelihood.precision * residuals;
    Vector g = Vector::Zero(w.size());
    Vector squares = Vector::Zero(w.size());
    if (curvature == Curvature::kSquaredGradients) {
      MlpBackwardSquared(shape, w, slopes, &tape, &g, &squares);
    } else {
      MlpBackward(shape, w, slopes, &tape, &g);
      squares = FisherDiagonal(shape, batch, w, 1 / likelihood.precision, &tape);
    }
    gradient->mu += likelihood.scale * g;
    gradient->rho.array() += likelihood.scale * squares.array() * sd.array().square();
    gradient->lambda += likelihood.Slope(residuals.squaredNorm(), batch.size());
    loss.expected_nll += likelihood.Expected(residuals.squaredNorm(), batch.size());
  }
  KlBackward(q, bound.prior, bound.kl_weight, gradient);
  return loss;
}

}  // namespace fathom::bnn
