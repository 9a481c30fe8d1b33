#include "study/quantile_observation.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "fathom/base/error.h"

namespace fathom {

namespace {

// The functions of a row are its quantiles.
class QuantileObservation : public Observation {
 public:
  explicit QuantileObservation(std::vector<double> levels) : p_(std::move(levels)) {}

  Index targets() const override { return 1; }
  bool discrete() const override { return false; }

  Moments Observe(Moments f) const override {
    Moments y(f.rows(), 1);
    for (Index n = 0; n < f.rows(); ++n) {
      const double* q = f.mean.row(n).data();
      // First and second moments of each piece. An exponential tail of rate r beyond q has the mean
      // q -+ 1/r and the second moment (q -+ 1/r)^2 + 1/r^2.
      const double low = q[0] - 1 / Rate(q, false);
      const double high = q[last()] + 1 / Rate(q, true);
      double mean = p_[0] * low + (1 - p_[last()]) * high;
      double square = p_[0] * (low * low + std::pow(q[0] - low, 2)) +
                      (1 - p_[last()]) * (high * high + std::pow(high - q[last()], 2));
      for (std::size_t k = 0; k < last(); ++k) {
        const double mass = p_[k + 1] - p_[k];
        mean += mass * 0.5 * (q[k] + q[k + 1]);
        square += mass * (q[k] * q[k] + q[k] * q[k + 1] + q[k + 1] * q[k + 1]) / 3;
      }
      y.mean(n, 0) = mean;
      y.var(n, 0) = std::max(0.0, square - mean * mean);
    }
    return y;
  }

  double LogDensity(const double* y, const double* q, const double* /*v*/) const override {
    if (*y < q[0]) return std::log(p_[0] * Rate(q, false)) - Rate(q, false) * (q[0] - *y);
    if (*y >= q[last()])
      return std::log((1 - p_[last()]) * Rate(q, true)) - Rate(q, true) * (*y - q[last()]);
    const std::size_t k = Piece(q, *y);
    return std::log((p_[k + 1] - p_[k]) / (q[k + 1] - q[k]));
  }

  double Tail(Index /*target*/, double y, const double* q, const double* /*v*/,
              bool upper) const override {
    if (y < q[0]) {
      const double below = p_[0] * std::exp(-Rate(q, false) * (q[0] - y));
      return upper ? 1 - below : below;
    }
    if (y >= q[last()]) {
      const double above = (1 - p_[last()]) * std::exp(-Rate(q, true) * (y - q[last()]));
      return upper ? above : 1 - above;
    }
    const std::size_t k = Piece(q, y);
    const double below = p_[k] + (p_[k + 1] - p_[k]) * (y - q[k]) / (q[k + 1] - q[k]);
    return upper ? 1 - below : below;
  }

 private:
  std::size_t last() const { return p_.size() - 1; }
  std::size_t Piece(const double* q, double y) const {
    return static_cast<std::size_t>(std::upper_bound(q, q + p_.size(), y) - q) - 1;
  }
  // Of the exponential tail: its height at the outer quantile is that of the interval beside it.
  double Rate(const double* q, bool upper) const {
    const std::size_t k = upper ? last() - 1 : 0;
    return (p_[k + 1] - p_[k]) / (q[k + 1] - q[k]) / (upper ? 1 - p_[last()] : p_[0]);
  }

  std::vector<double> p_;
};

}  // namespace

Prediction PredictionOfQuantiles(const std::vector<double>& levels, Matrix values) {
  if (levels.size() < 2) ThrowError("there must be two quantiles or more");
  for (std::size_t k = 0; k < levels.size(); ++k) {
    if (!(levels[k] > (k == 0 ? 0 : levels[k - 1]) && levels[k] < 1))
      ThrowError("the levels of quantiles must rise between 0 and 1");
  }
  FATHOM_CHECK(values.cols() == static_cast<Index>(levels.size()));
  constexpr double kApart = 1e-9;
  for (Index n = 0; n < values.rows(); ++n) {
    auto q = values.row(n);
    std::sort(q.begin(), q.end());
    const double range = q[q.size() - 1] - q[0];
    const double least = kApart * (range > 0 ? range : 1 + std::abs(q[0]));
    for (Index k = 1; k < q.size(); ++k) q[k] = std::max(q[k], q[k - 1] + least);
  }
  Prediction prediction = Prediction::Gaussian(Moments::Certain(std::move(values)));
  prediction.observations = {std::make_shared<QuantileObservation>(levels)};
  return prediction;
}

}  // namespace fathom
