#include "fathom/distribution/joint_prediction.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"
#include "fathom/base/quadrature.h"
#include "fathom/base/random.h"

namespace fathom {

namespace {

// The rows of a part when the common errors are known: xi [N, targets].
Prediction RowsGiven(const JointPart& part, const Matrix& xi) {
  Prediction rows = part.rows;
  const Index targets = xi.cols();
  for (std::size_t s = 0; s < rows.components.size(); ++s) {
    auto mean = rows.components[s].mean.leftCols(targets);
    auto var = rows.components[s].var.leftCols(targets);
    const Matrix common = var.cwiseProduct(part.share[s]);
    mean += common.cwiseSqrt().cwiseProduct(xi);
    var = (var - common).cwiseMax(0.0);
  }
  return rows;
}

// b_k [N, targets] for k = 1, 2, ...
std::vector<Matrix> MehlerTerms(const JointPart& part) {
  const Prediction& rows = part.rows;
  const Index targets = rows.outputs();
  if (!rows.observed()) {
    Matrix b = Matrix::Zero(rows.rows(), targets);
    for (Index s = 0; s < rows.size(); ++s)
      b += rows.weights[s] * rows.components[s].var.cwiseProduct(part.share[s]).cwiseSqrt();
    return {b};
  }
  // exp(f) of a variance of 1 leaves 2e-10 of its covariance behind term 12.
  constexpr Index kTerms = 12, kNodes = 40;
  static const HermiteRule rule = MakeHermiteRule(kNodes);
  std::vector<Matrix> b(kTerms, Matrix::Zero(rows.rows(), targets));
  for (Index i = 0; i < kNodes; ++i) {
    const double xi = rule.nodes[i];
    const Matrix y = RowsGiven(part, Matrix::Constant(rows.rows(), targets, xi)).Mean();
    double before = 1, he = xi;
    for (Index k = 1; k <= kTerms; ++k) {
      b[k - 1] += rule.weights[i] * he * y;
      const double next = (xi * he - std::sqrt(static_cast<double>(k)) * before) /
                          std::sqrt(static_cast<double>(k + 1));
      before = std::exchange(he, next);
    }
  }
  return b;
}

// The covariance of one target within a part.
Matrix WithinPart(const Matrix& correlation, const std::vector<Matrix>& b, Index target) {
  Matrix cov = Matrix::Zero(correlation.rows(), correlation.rows());
  Matrix power = correlation;
  for (std::size_t k = 0; k < b.size(); ++k) {
    if (k > 0) power = power.cwiseProduct(correlation);
    const Vector own = b[k].col(target);
    cov += own.asDiagonal() * power * own.asDiagonal();
  }
  return cov;
}

// L of L L' = R. Rows may be copies of each other.
Matrix FactorOfCorrelation(const Matrix& R) {
  for (double jitter = 1e-10; jitter < 1e-2; jitter *= 10) {
    Matrix L = (R + jitter * Matrix::Identity(R.rows(), R.rows())) / (1 + jitter);
    if (CholeskyInPlace(&L)) return L;
  }
  throw NumericalError("the covariance of the rows is not positive definite");
}

Index PartOf(const std::vector<JointPart>& parts, double uniform) {
  Index part = 0;
  for (double below = parts[0].weight; uniform > below && part + 1 < std::ssize(parts);)
    below += parts[++part].weight;
  return part;
}

}  // namespace

Matrix JointPrediction::Mean() const {
  Matrix mean = Matrix::Zero(rows(), targets());
  for (const JointPart& part : parts) mean += part.weight * part.rows.Mean();
  return mean;
}

Matrix JointPrediction::Variance() const {
  const Matrix mean = Mean();
  Matrix var = Matrix::Zero(rows(), targets());
  for (const JointPart& part : parts) {
    const Moments y = part.rows.MixtureMoments();
    var += part.weight * (y.var + (y.mean - mean).cwiseAbs2());
  }
  return var;
}

std::vector<Matrix> JointPrediction::Covariances(const ThreadPool& pool) const {
  const Matrix mean = Mean();
  const Matrix var = Variance();
  std::vector<Matrix> covariances(targets(), Matrix::Zero(rows(), rows()));
  for (const JointPart& part : parts) {
    const std::vector<Matrix> b = MehlerTerms(part);
    const Matrix off = part.rows.Mean() - mean;
    pool.Run(targets(), [&](Index t) {
      covariances[t] += part.weight * WithinPart(part.correlations[t], b, t);
      covariances[t] += part.weight * off.col(t) * off.col(t).transpose();
    });
  }
  for (Index t = 0; t < targets(); ++t) covariances[t].diagonal() = var.col(t);
  return covariances;
}

Matrix JointPrediction::Draws(Index samples, std::uint64_t seed, const ThreadPool& pool) const {
  Require(samples >= 0, "the number of samples", "at least 0", samples);
  const Index N = rows(), T = targets();
  std::vector<std::vector<Matrix>> factors(parts.size());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (const Matrix& R : parts[p].correlations) factors[p].push_back(FactorOfCorrelation(R));
  }
  Matrix draws(N, T * samples);
  pool.Run(samples, [&](Index s) {
    RandomStream stream(seed, static_cast<std::uint64_t>(s));
    const Index p = PartOf(parts, stream.Uniform());
    Matrix xi(N, T);
    for (Index t = 0; t < T; ++t) {
      xi.col(t) = LowerTimes(factors[p][t], stream.NormalMatrix(N, 1));
    }
    const Prediction given = RowsGiven(parts[p], xi);
    for (Index n = 0; n < N; ++n) {
      for (Index t = 0; t < T; ++t)
        draws(n, t * samples + s) = given.Quantile(n, t, stream.Uniform());
    }
  });
  return draws;
}

}  // namespace fathom
