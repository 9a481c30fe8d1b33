#include "fathom/evaluate/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fathom/base/error.h"

namespace fathom {
namespace {

void RequireSameShape(const Prediction& prediction, const Matrix& y) {
  if (y.rows() == prediction.rows() && y.cols() == prediction.outputs()) return;
  ThrowError("targets must be ", prediction.rows(), " x ", prediction.outputs(),
             " like the prediction, not ", y.rows(), " x ", y.cols());
}

double Pit(const Prediction& prediction, Index n, Index d, double y) {
  const double cdf = prediction.Cdf(n, d, y);
  const bool jumps =
      prediction.discrete() ||
      std::any_of(prediction.components.begin(), prediction.components.end(),
                  [&](const Moments& c) {
                    return !prediction.observed() && c.var(n, d) == 0 && c.mean(n, d) == y;
                  });
  if (!jumps) return cdf;
  const double below = std::nextafter(y, -std::numeric_limits<double>::infinity());
  return 0.5 * (cdf + prediction.Cdf(n, d, below));
}

// One interval's penalty; see Scores::interval_score_95.
double IntervalScore(double low, double high, double y, double alpha) {
  return high - low + 2 / alpha * (std::max(low - y, 0.0) + std::max(y - high, 0.0));
}

// What takes long to compute for a cell.
struct CellScores {
  double crps = 0, interval_score_95 = 0;
  // Probability of the smallest central interval that holds the target.
  double central = 0;
};

}  // namespace

Matrix ProbabilityIntegralTransform(const Prediction& prediction, const Matrix& y) {
  RequireSameShape(prediction, y);
  Matrix u(y.rows(), y.cols());
  for (Index n = 0; n < y.rows(); ++n) {
    for (Index d = 0; d < y.cols(); ++d) {
      u(n, d) = std::isnan(y(n, d)) ? y(n, d) : Pit(prediction, n, d, y(n, d));
    }
  }
  return u;
}

void ScoreSums::Add(const Prediction& prediction, const Matrix& y, const ThreadPool& pool) {
  RequireSameShape(prediction, y);
  const Matrix mean = prediction.Mean();
  const Matrix variance = prediction.Variance();
  std::vector<double> log_density(static_cast<std::size_t>(y.rows()));
  std::vector<CellScores> cells(static_cast<std::size_t>(y.size()));
  pool.Run(y.rows(), [&](Index n) {
    if (y.row(n).array().isNaN().all()) return;
    log_density[n] = prediction.LogDensity(n, y.row(n));
    for (Index d = 0; d < y.cols(); ++d) {
      if (std::isnan(y(n, d))) continue;
      cells[n * y.cols() + d] = {
          .crps = prediction.Crps(n, d, y(n, d)),
          .interval_score_95 = IntervalScore(prediction.Quantile(n, d, 0.025),
                                             prediction.Quantile(n, d, 0.975), y(n, d), 0.05),
          .central = std::abs(2 * Pit(prediction, n, d, y(n, d)) - 1)};
    }
  });
  for (Index n = 0; n < y.rows(); ++n) {
    if (y.row(n).array().isNaN().all()) continue;
    ++sums_.rows;
    sums_.mean_log_likelihood += log_density[n];
    for (Index d = 0; d < y.cols(); ++d) {
      if (std::isnan(y(n, d))) continue;
      const CellScores& cell = cells[n * y.cols() + d];
      const double error = y(n, d) - mean(n, d);
      ++cells_;
      sums_.rmse += error * error;
      sums_.mae += std::abs(error);
      sums_.crps += cell.crps;
      sums_.sharpness += std::sqrt(variance(n, d));
      sums_.interval_score_95 += cell.interval_score_95;
      sums_.coverage_50 += cell.central <= 0.5;
      sums_.coverage_90 += cell.central <= 0.9;
      sums_.coverage_95 += cell.central <= 0.95;
      for (int level = 0; level < kLevels; ++level)
        covered_[level] += cell.central <= 0.05 * (level + 1);
    }
  }
}

Scores ScoreSums::Means() const {
  if (cells_ == 0)
    ThrowError("there is no row with a target to score; give rows whose targets are known");
  Scores scores = sums_;
  scores.rmse = std::sqrt(scores.rmse / cells_);
  scores.mean_log_likelihood /= static_cast<double>(scores.rows);
  for (double* const score :
       {&scores.mae, &scores.crps, &scores.sharpness, &scores.interval_score_95,
        &scores.coverage_50, &scores.coverage_90, &scores.coverage_95}) {
    *score /= cells_;
  }
  for (int level = 0; level < kLevels; ++level)
    scores.calibration_error += std::abs(0.05 * (level + 1) - covered_[level] / cells_) / kLevels;
  return scores;
}

Scores Evaluate(const Prediction& prediction, const Matrix& y) {
  ScoreSums sums;
  sums.Add(prediction, y, ThreadPool(1));
  return sums.Means();
}

}  // namespace fathom
