#include "fathom/linear/ridge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"

namespace fathom {

namespace {

constexpr Index kMostColumns = 1000;

// Eigenvectors of X'X with eigenvalues above rounding, from whichever of X'X and XX' is smaller.
void FindDirections(const Matrix& X, Ridge* ridge) {
  const bool tall = X.rows() >= X.cols();
  const Eigensystem system =
      SymmetricEigensystem(tall ? Product(Transposed(X), {X}) : Product({X}, Transposed(X)));
  const double least = 1e-10 * std::max(system.values.maxCoeff(), 1e-300);
  const Index size = system.values.size();
  Index first = 0;  // they ascend
  while (first < size && system.values[first] <= least) ++first;
  const Index R = size - first;
  ridge->eigenvalues = system.values.tail(R);
  ridge->directions = system.vectors.rightCols(R);
  if (!tall) {
    ridge->directions = Product(Transposed(X), {ridge->directions});
    ridge->directions *= ridge->eigenvalues.cwiseSqrt().cwiseInverse().asDiagonal();
  }
}

// [N]: what each row and its copies count as together.
Vector CountsOfGroups(const Vector& counts, const std::vector<std::int32_t>& copies) {
  if (copies.empty()) return counts;
  Vector sums = Vector::Zero(counts.size());
  const auto group = [&](Index n) { return copies[n] >= 0 ? Index{copies[n]} : n; };
  for (Index n = 0; n < counts.size(); ++n) sums[group(n)] += counts[n];
  Vector groups(counts.size());
  for (Index n = 0; n < counts.size(); ++n) groups[n] = sums[group(n)];
  return groups;
}

// How often each row counts, and which rows are the same one.
struct RowCounts {
  Vector counts;  // [N]
  const std::vector<std::int32_t>& copies;
};

// With left-out variances and noise in units of the noise.
RidgeFit FitComplete(const Moments& x, const Matrix& y, const RowCounts& rows) {
  const Index N = x.rows();
  const Index T = y.cols();
  FATHOM_CHECK(N > 1 && y.rows() == N);
  const Vector& counts = rows.counts;
  const Vector roots = counts.cwiseSqrt();
  RidgeFit fit;
  fit.counts = CountsOfGroups(counts, rows.copies);
  // By how much the leverage of a row grows if its copies are left out with it.
  const Vector together = fit.counts.cwiseQuotient(counts);
  Ridge& ridge = fit.ridge;
  ridge.rows = counts.sum();
  ridge.centre = x.mean.transpose() * counts / ridge.rows;
  ridge.intercept = y.transpose() * counts / ridge.rows;
  const Matrix X = roots.asDiagonal() * (x.mean.rowwise() - ridge.centre.transpose());
  const Matrix Y = roots.asDiagonal() * (y.rowwise() - ridge.intercept.transpose());
  if (std::min(N, x.cols()) <= kMostColumns) {
    FindDirections(X, &ridge);
  } else {
    ridge.directions = Matrix(x.cols(), 0);
    ridge.eigenvalues = Vector(0);
  }
  const Matrix Z = Product({X}, {ridge.directions});
  const Matrix projected = Product(Transposed(Z), {Y});  // [R, T]
  const Matrix squares = Z.cwiseAbs2();
  ridge.weights = Matrix::Zero(x.cols(), T);
  ridge.penalty = Vector::Zero(T);
  ridge.noise = Vector::Ones(T);
  fit.left_out = Moments(N, T);
  for (Index t = 0; t < T; ++t) {
    double best = std::numeric_limits<double>::infinity();
    // From hardly any penalty to one that leaves the mean alone; in units of a row's own weight.
    constexpr double kLeast = -4, kMost = 8, kStep = 0.5;
    for (double power = kMost; power >= kLeast; power -= kStep) {
      const double penalty = std::pow(10, power);
      const Vector shrunk = (ridge.eigenvalues.array() + penalty).inverse();
      const Vector alone = (squares * shrunk).array() + counts.array() / ridge.rows;
      const Vector h = alone.cwiseProduct(together).array().min(1 - 1e-9);
      const Vector coefficients = shrunk.cwiseProduct(projected.col(t));
      const Vector error = ((Y.col(t) - Z * coefficients).array() / (1 - h.array())).matrix();
      const double mean_square = error.squaredNorm() / ridge.rows;
      // A stronger penalty is kept unless a weaker one is better by more than rounding.
      if (!(mean_square < best * (1 - 1e-6))) continue;
      best = mean_square;
      ridge.penalty[t] = penalty;
      ridge.weights.col(t) = ridge.directions * coefficients;
      fit.left_out.mean.col(t) = y.col(t) - error.cwiseQuotient(roots);
      // The noise of a row counts once, however often the row has counted for the line.
      fit.left_out.var.col(t) = 1 + h.array() / (fit.counts.array() * (1 - h.array()));
    }
  }
  return fit;
}

// The noise s with which the left-out errors e are as large as expected, sum_n c_n e_n^2 / (s g_n +
// v_n) = sum_n c_n, where v_n comes from uncertain cells and g_n from leaving the row out.
double NoiseBeside(const Vector& squared_errors, const Vector& g, const Vector& v,
                   const Vector& counts) {
  constexpr double kLeastNoise = 1e-12;
  if ((v.array() == 0).all())
    return std::max(kLeastNoise, counts.dot(squared_errors.cwiseQuotient(g)) / counts.sum());
  double least = std::log(kLeastNoise);
  double most = std::log(std::max(kLeastNoise, squared_errors.cwiseQuotient(g).maxCoeff()));
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (least + most);
    const Vector expected = std::exp(middle) * g + v;
    const bool too_small = counts.dot(squared_errors.cwiseQuotient(expected)) > counts.sum();
    (too_small ? least : most) = middle;
  }
  return std::exp(most);
}

// Whether the rows tell all directions apart. Where they are too few for that, new rows lie in
// others, of which the line knows nothing, as left-out rows do.
bool KnowsAllDirections(const RidgeFit& fit, const Vector& counts) {
  const double different_rows = counts.cwiseQuotient(fit.counts).sum();
  return static_cast<double>(fit.ridge.eigenvalues.size()) < different_rows - 1.5;
}

// Rows with uncertain cells are off by what the cells may be. They teach the line less, and say so
// of themselves when they are left out.
RidgeFit FitWithNoise(const Moments& x, const Matrix& y, const RowCounts& rows) {
  RidgeFit fit = FitComplete(x, y, rows);
  const Vector& counts = rows.counts;
  const bool knows_all = KnowsAllDirections(fit, counts);
  const int last_round = (x.var.array() > 0).any() ? 2 : 0;
  for (int round = 0; round <= last_round; ++round) {
    const Matrix v = Product({x.var}, {fit.ridge.weights.cwiseAbs2()});
    Vector teaches = Vector::Zero(x.rows());
    for (Index t = 0; t < y.cols(); ++t) {
      const Vector g = fit.left_out.var.col(t);
      const Vector squared_errors = (y - fit.left_out.mean).col(t).cwiseAbs2();
      const double noise = NoiseBeside(squared_errors, g, v.col(t), counts);
      // The usual left-out row stands for new ones.
      const double usual = counts.dot(g.array().log().matrix()) / counts.sum();
      fit.ridge.noise[t] = knows_all ? noise : noise * std::exp(usual);
      fit.left_out.var.col(t) = noise * g + v.col(t);
      teaches.array() += noise / (noise + v.col(t).array()) / static_cast<double>(y.cols());
    }
    if (round < last_round) fit = FitComplete(x, y, {counts.cwiseProduct(teaches), rows.copies});
  }
  return fit;
}

// Rows that are guessed by the line have no error of their own.
void ScaleNoise(const Matrix& y, const Vector& counts, RidgeFit* fit) {
  for (Index t = 0; t < y.cols(); ++t) {
    double known = 0;
    for (Index n = 0; n < y.rows(); ++n) {
      if (!std::isnan(y(n, t))) known += counts[n];
    }
    const double more = counts.sum() / std::max(known, 1.0);
    fit->ridge.noise[t] *= more;
    fit->left_out.var.col(t) *= more;
  }
}

}  // namespace

RidgeFit FitRidge(const Moments& x, const Matrix& y, const Vector& weights,
                  const std::vector<std::int32_t>& copies) {
  const RowCounts rows{weights.size() > 0 ? weights : Vector(Vector::Ones(x.rows())), copies};
  if (!y.hasNaN()) return FitWithNoise(x, y, rows);
  // The guesses come nearer to their end by the share of missing cells in each round.
  constexpr int kRounds = 25;
  Matrix guessed = y.array().isNaN().select(0, y);
  RidgeFit fit;
  for (int round = 0; round < kRounds; ++round) {
    fit = FitWithNoise(x, guessed, rows);
    guessed = y.array().isNaN().select(PredictRidge(fit.ridge, x).mean, y);
  }
  ScaleNoise(y, rows.counts, &fit);
  return fit;
}

namespace {

// [N, N]: by how much a unit of one row's target moves the line at another row.
Matrix Leverages(const Ridge& ridge, const Moments& x, Index target) {
  const Matrix along = Product({x.mean.rowwise() - ridge.centre.transpose()}, {ridge.directions});
  const Vector shrunk = (ridge.eigenvalues.array() + ridge.penalty[target]).inverse();
  Matrix leverages = Product({along * shrunk.asDiagonal()}, Transposed(along));
  leverages.array() += 1 / ridge.rows;
  return leverages;
}

}  // namespace

Matrix MeansWithoutEach(const RidgeFit& fit, const Moments& x, const Matrix& y, Index target) {
  const Matrix pull = Leverages(fit.ridge, x, target);
  Vector error = fit.counts.cwiseProduct((y - fit.left_out.mean).col(target));
  error = error.array().isNaN().select(0, error);  // what is not known pulls nothing
  const Vector mean = PredictRidge(fit.ridge, x).mean.col(target);
  return mean.replicate(1, error.size()) - pull * error.asDiagonal();
}

Moments PredictRidge(const Ridge& ridge, const Moments& x, bool latent) {
  const Matrix X = x.mean.rowwise() - ridge.centre.transpose();
  Moments y;
  // Lazy, that is, entry by entry: a row's bits do not depend on the rows beside it.
  y.mean = Matrix(X.lazyProduct(ridge.weights)).rowwise() + ridge.intercept.transpose();
  const Matrix squared_weights = ridge.weights.cwiseAbs2();
  y.var = x.var.lazyProduct(squared_weights);
  const Matrix squares = Matrix(X.lazyProduct(ridge.directions)).cwiseAbs2();
  for (Index t = 0; t < ridge.targets(); ++t) {
    const Vector shrunk = (ridge.eigenvalues.array() + ridge.penalty[t]).inverse();
    const Eigen::ArrayXd leverage = Vector(squares.lazyProduct(shrunk)).array() + 1 / ridge.rows;
    y.var.col(t).array() += ridge.noise[t] * (leverage + (latent ? 0.0 : 1.0));
  }
  return y;
}

Matrix RidgeCovariance(const Ridge& ridge, const Moments& x, Index target) {
  Matrix cov = ridge.noise[target] * Leverages(ridge, x, target);
  cov.diagonal() += x.var * ridge.weights.col(target).cwiseAbs2();
  return cov;
}

}  // namespace fathom
