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

// P(Y < y) and P(Y <= y): they differ where y has a probability of its own.
struct CdfAround {
  double below, at;
  double middle() const { return 0.5 * (below + at); }
  // How much of it, from 0 to 1, lies in the central interval of that probability.
  double Inside(double probability) const {
    const double low = 0.5 * (1 - probability), high = 1 - low;
    if (at == below) return std::abs(2 * at - 1) <= probability ? 1 : 0;
    return Between(low, high);
  }
  // The same of any interval, where y has a probability of its own.
  double Between(double low, double high) const {
    return std::clamp((std::min(at, high) - std::max(below, low)) / (at - below), 0.0, 1.0);
  }
};

CdfAround Around(const Prediction& prediction, Index n, Index d, double y) {
  const double cdf = prediction.Cdf(n, d, y);
  const bool certain = std::any_of(
      prediction.components.begin(), prediction.components.end(), [&](const Moments& c) {
        return !prediction.observed() && c.var(n, d) == 0 && c.mean(n, d) == y;
      });
  if (!prediction.observed() && !certain) return {cdf, cdf};
  // Steps of a lattice are met with some tolerance, so just below one is not yet below it.
  const double before = prediction.discrete()
                            ? y - 0.5 * prediction.observations[0]->lattice().step
                            : std::nextafter(y, -std::numeric_limits<double>::infinity());
  const CdfAround around{std::min(cdf, prediction.Cdf(n, d, before)), cdf};
  // What is certain and right lies in every interval.
  return certain ? CdfAround{around.middle(), around.middle()} : around;
}

// One interval's penalty; see Scores::interval_score_95.
double IntervalScore(double low, double high, double y, double alpha) {
  return high - low + 2 / alpha * (std::max(low - y, 0.0) + std::max(y - high, 0.0));
}

void AddTenths(const CdfAround& cdf, std::array<double, 10>* tenths) {
  if (cdf.at == cdf.below) {
    ++(*tenths)[static_cast<std::size_t>(std::clamp(10 * cdf.at, 0.0, 9.0))];
    return;
  }
  for (int k = 0; k < 10; ++k) (*tenths)[k] += cdf.Between(0.1 * k, 0.1 * (k + 1));
}

// The parts of a row are its log density and these of each cell.
enum CellPart { kError, kStd, kCrps, kIntervalScore, kCdfBelow, kCdfAt, kCellParts };
Index PlaceOf(Index cell, CellPart part) { return 1 + kCellParts * cell + part; }

}  // namespace

Matrix ProbabilityIntegralTransform(const Prediction& prediction, const Matrix& y) {
  RequireSameShape(prediction, y);
  Matrix u(y.rows(), y.cols());
  for (Index n = 0; n < y.rows(); ++n) {
    for (Index d = 0; d < y.cols(); ++d) {
      u(n, d) = std::isnan(y(n, d)) ? y(n, d) : Around(prediction, n, d, y(n, d)).middle();
    }
  }
  return u;
}

Matrix ScoreParts(const Prediction& prediction, const Matrix& y, const ThreadPool& pool) {
  RequireSameShape(prediction, y);
  const Moments moments = prediction.MixtureMoments();
  const RowQuantile low(prediction, 0.025);
  const RowQuantile high(prediction, 0.975);
  Matrix parts = Matrix::Zero(y.rows(), 1 + kCellParts * y.cols());
  pool.Run(y.rows(), [&](Index n) {
    if (y.row(n).array().isNaN().all()) return;
    parts(n, 0) = prediction.LogDensity(n, y.row(n));
    for (Index d = 0; d < y.cols(); ++d) {
      if (std::isnan(y(n, d))) continue;
      const CdfAround cdf = Around(prediction, n, d, y(n, d));
      parts(n, PlaceOf(d, kError)) = y(n, d) - moments.mean(n, d);
      parts(n, PlaceOf(d, kStd)) = std::sqrt(moments.var(n, d));
      parts(n, PlaceOf(d, kCrps)) = prediction.Crps(n, d, y(n, d));
      parts(n, PlaceOf(d, kIntervalScore)) = IntervalScore(low(n, d), high(n, d), y(n, d), 0.05);
      parts(n, PlaceOf(d, kCdfBelow)) = cdf.below;
      parts(n, PlaceOf(d, kCdfAt)) = cdf.at;
    }
  });
  return parts;
}

void ScoreSums::Add(const Prediction& prediction, const Matrix& y, const ThreadPool& pool) {
  AddParts(ScoreParts(prediction, y, pool), y);
}

void ScoreSums::AddParts(const Matrix& parts, const Matrix& y) {
  FATHOM_CHECK(parts.rows() == y.rows() && parts.cols() == 1 + kCellParts * y.cols());
  for (Index n = 0; n < y.rows(); ++n) {
    if (y.row(n).array().isNaN().all()) continue;
    ++sums_.rows;
    sums_.mean_log_likelihood += parts(n, 0);
    for (Index d = 0; d < y.cols(); ++d) {
      if (std::isnan(y(n, d))) continue;
      const auto part = [&](CellPart which) { return parts(n, PlaceOf(d, which)); };
      const CdfAround cdf{part(kCdfBelow), part(kCdfAt)};
      ++cells_;
      sums_.rmse += part(kError) * part(kError);
      sums_.mae += std::abs(part(kError));
      sums_.crps += part(kCrps);
      sums_.sharpness += part(kStd);
      sums_.interval_score_95 += part(kIntervalScore);
      sums_.coverage_50 += cdf.Inside(0.5);
      sums_.coverage_90 += cdf.Inside(0.9);
      sums_.coverage_95 += cdf.Inside(0.95);
      for (int level = 0; level < kLevels; ++level)
        covered_[level] += cdf.Inside(0.05 * (level + 1));
      AddTenths(cdf, &tenths_);
    }
  }
}

void ScoreSums::RequireCells() const {
  if (cells_ == 0)
    ThrowError("there is no row with a target to score; give rows whose targets are known");
}

Vector ScoreSums::Coverage() const {
  RequireCells();
  return Eigen::Map<const Vector>(covered_.data(), kLevels) / cells_;
}

Vector ScoreSums::Tenths() const {
  RequireCells();
  return Eigen::Map<const Vector>(tenths_.data(), static_cast<Index>(tenths_.size())) / cells_;
}

Scores ScoreSums::Means() const {
  RequireCells();
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
