#include "fathom/fitted/prediction_arrays.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fathom/base/error.h"
#include "fathom/base/random.h"

namespace fathom {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Calls fill(n) for every row, some rows per job.
template <typename Fill>
void ForEachRow(Index rows, const ThreadPool& pool, const Fill& fill) {
  constexpr Index kRows = 64;
  pool.Run((rows + kRows - 1) / kRows, [&](Index job) {
    for (Index n = job * kRows; n < std::min(rows, (job + 1) * kRows); ++n) fill(n);
  });
}

// Values per output of y [N, D K].
Index PerOutput(const Prediction& prediction, const Matrix& y) {
  FATHOM_CHECK(y.rows() == prediction.rows() && y.cols() % prediction.outputs() == 0);
  return y.cols() / prediction.outputs();
}

// value(n, d, y) for each cell of y [N, D K], where that is known.
template <typename Value>
Matrix ForEachCell(const Prediction& prediction, const Matrix& y, const ThreadPool& pool,
                   const Value& value) {
  const Index each = PerOutput(prediction, y);
  Matrix result(y.rows(), y.cols());
  ForEachRow(y.rows(), pool, [&](Index n) {
    for (Index c = 0; c < y.cols(); ++c)
      result(n, c) = std::isnan(y(n, c)) ? kNaN : value(n, c / each, y(n, c));
  });
  return result;
}

}  // namespace

Matrix Quantiles(const Prediction& prediction, const std::vector<double>& probabilities,
                 const ThreadPool& pool) {
  for (const double p : probabilities)
    Require(p > 0 && p < 1, "the probability of a quantile", "above 0 and below 1", p);
  const auto each = static_cast<Index>(probabilities.size());
  const std::vector<RowQuantile> quantiles = RowQuantiles(prediction, probabilities);
  Matrix result(prediction.rows(), prediction.outputs() * each);
  ForEachRow(prediction.rows(), pool, [&](Index n) {
    for (Index c = 0; c < result.cols(); ++c) result(n, c) = quantiles[c % each](n, c / each);
  });
  return result;
}

Matrix Cdfs(const Prediction& prediction, const Matrix& y, const ThreadPool& pool) {
  return ForEachCell(prediction, y, pool,
                     [&](Index n, Index d, double value) { return prediction.Cdf(n, d, value); });
}

Matrix CrpsOf(const Prediction& prediction, const Matrix& y, const ThreadPool& pool) {
  return ForEachCell(prediction, y, pool,
                     [&](Index n, Index d, double value) { return prediction.Crps(n, d, value); });
}

Matrix LogDensities(const Prediction& prediction, const Matrix& y, const ThreadPool& pool) {
  const Index each = PerOutput(prediction, y);
  Matrix result(y.rows(), each);
  ForEachRow(y.rows(), pool, [&](Index n) {
    Eigen::RowVectorXd point(prediction.outputs());
    for (Index k = 0; k < each; ++k) {
      for (Index d = 0; d < point.size(); ++d) point[d] = y(n, d * each + k);
      result(n, k) = prediction.LogDensity(n, point);
    }
  });
  return result;
}

Matrix Draws(const Prediction& prediction, Index samples, std::uint64_t seed,
             const ThreadPool& pool) {
  Require(samples >= 0, "the number of samples", "at least 0", samples);
  Matrix result(prediction.rows(), prediction.outputs() * samples);
  ForEachRow(prediction.rows(), pool, [&](Index n) {
    RandomStream stream(seed, static_cast<std::uint64_t>(n));
    for (Index c = 0; c < result.cols(); ++c)
      result(n, c) = prediction.Quantile(n, c / samples, stream.Uniform());
  });
  return result;
}

}  // namespace fathom
