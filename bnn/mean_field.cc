#include "bnn/mean_field.h"

#include <algorithm>
#include <cmath>

#include "bnn/thin_products.h"
#include "bnn/unit_loops.h"
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

double Kl(const MeanField& q, const NormalPrior& prior) { return Kl(q, q.Variances(), prior); }

void KlBackward(const MeanField& q, const NormalPrior& prior, double weight, MeanField* gradient) {
  KlBackward(q, q.Variances(), prior, weight, gradient);
}

double Kl(const MeanField& q, const Vector& variances, const NormalPrior& prior) {
  const auto squares = variances.array() + (q.mu.array() - prior.mean).square();
  return (0.5 * squares / prior.variance - q.rho.array() + 0.5 * std::log(prior.variance) - 0.5)
      .sum();
}

void KlBackward(const MeanField& q, const Vector& variances, const NormalPrior& prior,
                double weight, MeanField* gradient) {
  gradient->mu.array() += weight * (q.mu.array() - prior.mean) / prior.variance;
  gradient->rho.array() += weight * (variances.array() / prior.variance - 1);
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

VariationalLoss WeightFormLoss(const Bound& bound, const MeanField& q, const Rows& batch,
                               const WeightNoise& eps, MeanField* gradient) {
  const Likelihood likelihood(q, batch, bound, eps.size());
  VariationalLoss loss{.kl = Kl(q, bound.prior)};
  if (gradient != nullptr) SetZero(q.mu.size(), gradient);
  const Vector sd = q.Sd();
  MlpTape tape;
  for (const Vector& noise : eps) {
    Vector descent = Vector::Zero(q.mu.size());
    const double squares = SumSquaredResiduals({bound.shape, q.mu + sd.cwiseProduct(noise)}, batch,
                                               &tape, gradient == nullptr ? nullptr : &descent);
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

void PutInputs(const Matrix& X, LocalTape* tape) {
  const auto [rows, inputs] = std::pair(X.rows(), X.cols());
  Matrix& h = tape->h[0];
  h.resize(rows, inputs + 1);
  h.leftCols(inputs) = X;
  h.col(inputs).setOnes();
  tape->squares[0] = h.cwiseAbs2();
}

// Hidden units, which are the inputs of layer l + 1, from the moments of their pre-activations.
void DrawHidden(const MlpShape& shape, Index l, const Matrix& eps, LocalTape* tape) {
  const Index width = shape.fan_out(l);
  const auto l_next = static_cast<std::size_t>(l) + 1;
  Matrix& h = tape->h[l_next];
  Matrix& squares = tape->squares[l_next];
  if (h.rows() != eps.rows() || h.cols() != width + 1) {
    h.setOnes(eps.rows(), width + 1);
    squares.setOnes(eps.rows(), width + 1);
  }
  const bool relu = shape.activation() == Activation::kRelu;
  DrawLocalUnits({.shape = {eps.rows(), width, width + 1},
                  .moment_rows = tape->mean[l].rows(),
                  .mean = tape->mean[l].data(),
                  .var = tape->var[l].data(),
                  .eps = eps.data()},
                 relu, h.data(), squares.data(), tape->ratio[l].data());
  if (relu) return;
  Activate(shape.activation(), h.leftCols(width));
  squares.leftCols(width) = h.leftCols(width).cwiseAbs2();
}

void LocalForward(const MlpShape& shape, const MeanField& q, const Matrix& X, const UnitNoise& eps,
                  LocalTape* tape) {
  const Index L = shape.num_layers();
  for (auto* part :
       {&tape->h, &tape->squares, &tape->ratio, &tape->d, &tape->e, &tape->mean, &tape->var})
    part->resize(static_cast<std::size_t>(L));
  PutInputs(X, tape);
  for (Index l = 0; l < L; ++l) {
    const Index rows = tape->h[l].rows();
    tape->mean[l].resize(rows, shape.fan_out(l));
    tape->var[l].resize(rows, shape.fan_out(l));
    TimesTransposed(tape->h[l], shape.Layer(q.mu, l), tape->mean[l]);
    TimesTransposed(tape->squares[l], shape.Layer(tape->variances, l), tape->var[l]);
    tape->ratio[l].resize(eps[l].rows(), shape.fan_out(l));
    if (l + 1 < L) DrawHidden(shape, l, eps[l], tape);
  }
  // The output is a unit like the others, but for its activation.
  const Matrix& noise = eps.back();
  tape->f.resize(noise.rows());
  tape->d.back().resize(noise.rows(), 1);  // holds f^2, which nobody needs
  DrawLocalUnits({.shape = {noise.rows(), 1, 1},
                  .moment_rows = tape->mean.back().rows(),
                  .mean = tape->mean.back().data(),
                  .var = tape->var.back().data(),
                  .eps = noise.data()},
                 false, tape->f.data(), tape->d.back().data(), tape->ratio.back().data());
}

// Puts the sum over all draws of a row into the first of them.
void FoldDraws(Index batch, Matrix* d) {
  for (Index first = batch; first < d->rows(); first += batch)
    d->topRows(batch) += d->middleRows(first, batch);
}

// The slopes of the pre-activations below layer l from those of its own.
void LocalStepDown(const MlpShape& shape, const MeanField& q, Index l, LocalTape* tape) {
  const Index inputs = shape.fan_in(l);
  const Matrix& h = tape->h[l];
  const DrawnUnits units{
      .shape = {h.rows(), inputs, inputs + 1},
      .slope = shape.activation() == Activation::kRelu ? Slope::kRelu : Slope::kTanh,
      .h = h.data(),
      .ratio = tape->ratio[l - 1].data()};
  const auto mu = shape.Layer(q.mu, l);
  const auto variances = shape.Layer(tape->variances, l);
  Matrix& d = tape->d[l - 1];
  Matrix& e = tape->e[l - 1];
  d.resize(h.rows(), inputs);
  e.resize(h.rows(), inputs);
  if (shape.fan_out(l) == 1) {
    const LocalOutput output{mu.data(), variances.data(), tape->d[l].data(), tape->e[l].data()};
    LocalUnitsBackward(units, output, d.data(), e.data());
    return;
  }
  tape->d_mean.resize(h.rows(), inputs);
  tape->d_h2.resize(h.rows(), inputs);
  SetProduct(tape->d[l], mu.leftCols(inputs), tape->d_mean);
  SetProduct(tape->e[l], variances.leftCols(inputs), tape->d_h2);
  LocalUnitsBackward(units, tape->d_mean.data(), tape->d_h2.data(), d.data(), e.data());
}

// Adds to gradient->mu and gradient->rho.
void LocalBackward(const MlpShape& shape, const MeanField& q, const Vector& d_f, LocalTape* tape,
                   MeanField* gradient) {
  tape->d.back() = d_f;
  tape->e.back() = d_f.cwiseProduct(tape->ratio.back().col(0));
  for (Index l = shape.num_layers() - 1; l >= 0; --l) {
    const Index rows = tape->h[l].rows();
    FoldDraws(rows, &tape->d[l]);
    FoldDraws(rows, &tape->e[l]);
    AddOuterProducts(tape->d[l].topRows(rows), tape->h[l], shape.Layer(&gradient->mu, l));
    tape->by_variance.setZero(shape.fan_out(l), shape.fan_in(l) + 1);
    AddOuterProducts(tape->e[l].topRows(rows), tape->squares[l], tape->by_variance);
    shape.Layer(&gradient->rho, l).array() +=
        tape->by_variance.array() * shape.Layer(tape->variances, l).array();
    if (l > 0) LocalStepDown(shape, q, l, tape);
  }
}

}  // namespace

VariationalLoss LocalFormLoss(const Bound& bound, const MeanField& q, const Rows& batch,
                              const UnitNoise& eps, MeanField* gradient, LocalTape* tape) {
  const Index rows = eps.back().rows();
  const Index draws = rows / batch.size();
  FATHOM_CHECK(draws >= 1 && draws * batch.size() == rows);
  const Likelihood likelihood(q, batch, bound, static_cast<std::size_t>(draws));
  tape->variances = (2 * q.rho.array()).exp();
  LocalForward(bound.shape, q, batch.X, eps, tape);
  const Vector residuals = batch.y.replicate(draws, 1) - tape->f;
  const double squares = residuals.squaredNorm();
  const VariationalLoss loss{.kl = Kl(q, tape->variances, bound.prior),
                             .expected_nll = likelihood.Expected(squares, rows)};
  if (gradient == nullptr) return loss;
  SetZero(q.mu.size(), gradient);
  LocalBackward(bound.shape, q, -likelihood.scale * likelihood.precision * residuals, tape,
                gradient);
  gradient->lambda = likelihood.Slope(squares, rows);
  KlBackward(q, tape->variances, bound.prior, bound.kl_weight, gradient);
  return loss;
}

VariationalLoss GravesLoss(const Bound& bound, const MeanField& q, const Rows& batch,
                           const WeightNoise& eps, Curvature curvature, MeanField* gradient) {
  const Likelihood likelihood(q, batch, bound, eps.size());
  VariationalLoss loss{.kl = Kl(q, bound.prior)};
  SetZero(q.mu.size(), gradient);
  const Vector sd = q.Sd();
  MlpTape tape;
  for (const Vector& noise : eps) {
    const Vector w = q.mu + sd.cwiseProduct(noise);
    const Mlp mlp{bound.shape, w};
    MlpForward(mlp, batch.X, &tape);
    const Vector residuals = batch.y - tape.f;
    const Vector slopes = -likelihood.precision * residuals;
    Vector g = Vector::Zero(w.size());
    Vector squares = Vector::Zero(w.size());
    if (curvature == Curvature::kSquaredGradients) {
      MlpBackwardSquared(mlp, slopes, &tape, &g, &squares);
    } else {
      MlpBackward(mlp, slopes, &tape, &g);
      squares = FisherDiagonal(mlp, batch, 1 / likelihood.precision, &tape);
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
