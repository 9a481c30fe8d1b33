#include "study/ranks.h"

#include <boost/math/quadrature/trapezoidal.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "fathom/base/error.h"
#include "fathom/distribution/prediction.h"

namespace fathom {

namespace {

// P(max - min <= range) of k standard normals: the smallest is at z and all others within `range`
// above it.
double RangeCdf(double range, Index k) {
  const auto density = [&](double z) {
    const double within = NormalCdf(z + range) - NormalCdf(z);
    return std::exp(-0.5 * z * z) * std::pow(within, static_cast<double>(k - 1));
  };
  // The trapezoidal rule converges exponentially for what is flat at both ends.
  const double integral = boost::math::quadrature::trapezoidal(density, -12.0, 12.0, 1e-12);
  return static_cast<double>(k) * integral / std::sqrt(2 * std::numbers::pi);
}

// P(X > f) of an F distribution.
double FTail(double f, double above, double below) {
  if (!std::isfinite(f)) return 0;
  return boost::math::ibeta(below / 2, above / 2, below / (below + above * f));
}

}  // namespace

Matrix RankRows(const Matrix& scores, bool larger_is_better) {
  if (scores.hasNaN()) ThrowError("a score to rank is NaN; leave its method or its dataset out");
  Matrix ranks(scores.rows(), scores.cols());
  for (Index n = 0; n < scores.rows(); ++n) {
    for (Index j = 0; j < scores.cols(); ++j) {
      const double own = scores(n, j);
      const auto row = scores.row(n).array();
      const auto better = larger_is_better ? (row > own).count() : (row < own).count();
      const auto equal = (row == own).count();
      ranks(n, j) = static_cast<double>(better) + 0.5 * static_cast<double>(equal + 1);
    }
  }
  return ranks;
}

RankComparison CompareRanks(const Matrix& ranks) {
  const Index datasets = ranks.rows();
  const Index methods = ranks.cols();
  Require(datasets >= 2, "number of datasets to compare on", "at least 2", datasets);
  Require(methods >= 2, "number of methods to compare", "at least 2", methods);
  const auto N = static_cast<double>(datasets);
  const auto k = static_cast<double>(methods);
  RankComparison result;
  result.mean = ranks.colwise().mean().transpose();
  const Matrix deviations = ranks.rowwise() - result.mean.transpose();
  result.standard_error =
      (deviations.colwise().squaredNorm().transpose() / ((N - 1) * N)).cwiseSqrt();
  result.chi_square =
      12 * N / (k * (k + 1)) * (result.mean.squaredNorm() - k * (k + 1) * (k + 1) / 4);
  const double slack = N * (k - 1) - result.chi_square;
  // All datasets agree; rounding may leave a little on either side.
  const bool agree = slack <= 1e-9 * N * k;
  result.f = agree ? std::numeric_limits<double>::infinity() : (N - 1) * result.chi_square / slack;
  result.p_value = FTail(std::max(result.f, 0.0), k - 1, (k - 1) * (N - 1));
  result.critical_difference = NemenyiCriticalValue(methods) * std::sqrt(k * (k + 1) / (6 * N));
  return result;
}

double NemenyiCriticalValue(Index methods) {
  Require(methods >= 2, "number of methods to compare", "at least 2", methods);
  const auto excess = [&](double range) { return RangeCdf(range, methods) - 0.95; };
  const auto close = [](double a, double b) { return std::abs(b - a) < 1e-11; };
  std::uintmax_t iterations = 200;
  const auto [low, high] = boost::math::tools::toms748_solve(excess, 1.0, 20.0, close, iterations);
  return 0.5 * (low + high) / std::numbers::sqrt2;
}

}  // namespace fathom
