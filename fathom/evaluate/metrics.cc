#include "fathom/evaluate/metrics.h"

#include <algorithm>
#include <array>
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

Scores Evaluate(const Prediction& prediction, const Matrix& y) {
  RequireSameShape(prediction, y);
  const Matrix mean = prediction.Mean();
  const Matrix variance = prediction.Variance();
  constexpr int kLevels = 19;  // p = 0.05, 0.10, ..., 0.95
  std::array<double, kLevels> covered{};
  Scores scores;
  for (Index n = 0; n < y.rows(); ++n) {
    if (y.row(n).hasNaN()) continue;
    ++scores.rows;
    scores.mean_log_likelihood += prediction.LogDensity(n, y.row(n));
    for (Index d = 0; d < y.cols(); ++d) {
      const double target = y(n, d);
      scores.rmse += (target - mean(n, d)) * (target - mean(n, d));
      scores.mae += std::abs(target - mean(n, d));
      scores.crps += prediction.Crps(n, d, target);
      scores.sharpness += std::sqrt(variance(n, d));
      scores.interval_score_95 += IntervalScore(prediction.Quantile(n, d, 0.025),
                                                prediction.Quantile(n, d, 0.975), target, 0.05);
      // The smallest central interval that holds the target has this probability.
      const double central = std::abs(2 * Pit(prediction, n, d, target) - 1);
      scores.coverage_50 += central <= 0.5;
      scores.coverage_90 += central <= 0.9;
      scores.coverage_95 += central <= 0.95;
      for (int level = 0; level < kLevels; ++level) covered[level] += central <= 0.05 * (level + 1);
    }
  }
  if (scores.rows == 0 || y.cols() == 0) {
    ThrowError("there is no row with a target to score; give rows whose targets are known");
  }

  const auto rows = static_cast<double>(scores.rows);
  const double cells = rows * static_cast<double>(y.cols());
  scores.rmse = std::sqrt(scores.rmse / cells);
  scores.mean_log_likelihood /= rows;
  for (double* const score :
       {&scores.mae, &scores.crps, &scores.sharpness, &scores.interval_score_95,
        &scores.coverage_50, &scores.coverage_90, &scores.coverage_95}) {
    *score /= cells;
  }
  for (int level = 0; level < kLevels; ++level) {
    scores.calibration_error += std::abs(0.05 * (level + 1) - covered[level] / cells) / kLevels;
  }
  return scores;
}

}  // namespace fathom
