#include "fathom/distribution/observation.h"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "fathom/base/quadrature.h"
#include "fathom/distribution/prediction.h"

namespace fathom {

namespace {

class RescaledObservation : public Observation {
 public:
  RescaledObservation(std::shared_ptr<const Observation> inner, Vector shift, Vector scale)
      : inner_(std::move(inner)), shift_(std::move(shift)), scale_(std::move(scale)) {}

  Index targets() const override { return inner_->targets(); }
  bool discrete() const override { return inner_->discrete(); }
  Lattice lattice() const override {
    if (!discrete()) return {};
    const Lattice inner = inner_->lattice();
    return {shift_[0] + scale_[0] * inner.origin, scale_[0] * inner.step};
  }
  std::vector<double> jumps() const override {
    std::vector<double> jumps = inner_->jumps();
    for (double& jump : jumps) jump = shift_[0] + scale_[0] * jump;
    return jumps;
  }
  Moments Observe(Moments f) const override {
    Moments y = inner_->Observe(std::move(f));
    y.mean = (y.mean * scale_.asDiagonal()).rowwise() + shift_.transpose();
    y.var = y.var * scale_.cwiseAbs2().asDiagonal();
    return y;
  }
  double LogDensity(const double* y, const double* m, const double* v) const override {
    const Vector inner = (Eigen::Map<const Vector>(y, targets()) - shift_).cwiseQuotient(scale_);
    const double density = inner_->LogDensity(inner.data(), m, v);
    // So far out that a square overflows, the density is 0 and not unknown.
    if (std::isnan(density) && !std::isnan(*m + *v)) return -HUGE_VAL;
    double units = 0;
    for (Index t = 0; t < targets(); ++t) units += std::isnan(y[t]) ? 0 : std::log(scale_[t]);
    return density - units;
  }
  double Tail(Index target, double y, const double* m, const double* v, bool upper) const override {
    return inner_->Tail(target, (y - shift_[target]) / scale_[target], m, v, upper);
  }

 private:
  std::shared_ptr<const Observation> inner_;
  Vector shift_, scale_;
};

}  // namespace

std::shared_ptr<const Observation> Rescaled(std::shared_ptr<const Observation> observation,
                                            Vector shift, Vector scale) {
  return std::make_shared<RescaledObservation>(std::move(observation), std::move(shift),
                                               std::move(scale));
}

double TailFunction::Quantile(double probability) const {
  const double z = NormalQuantile(probability);
  if (!std::isfinite(mean) || !std::isfinite(sd)) return std::numeric_limits<double>::quiet_NaN();
  if (sd == 0) return discrete ? std::round(mean) : mean;
  for (const double jump : jumps) {
    const double before = std::nextafter(jump, -std::numeric_limits<double>::infinity());
    if (tail(before, false) < probability && probability <= tail(jump, false)) return jump;
  }
  // In the smaller tail, where probabilities keep their relative accuracy. Rises with t.
  const bool upper = probability > 0.5;
  const auto excess = [&](double t) {
    return upper ? 1 - probability - tail(t, true) : tail(t, false) - probability;
  };
  double low = mean + sd * z;
  if (discrete) low = std::max(std::floor(low), -1.0);
  double high = low;
  const double least = discrete ? 1 : 0.1 * sd;
  for (double step = least; excess(low) >= 0 && !(discrete && low < 0); step *= 2) {
    high = low;
    low = discrete ? std::max(low - step, -1.0) : low - step;
  }
  for (double step = least; excess(high) < 0; step *= 2) {
    low = high;
    high += step;
  }
  if (discrete) {  // the first whole number at which the probability is reached
    while (high - low > 1) {
      const double middle = std::floor(0.5 * (low + high));
      (excess(middle) >= 0 ? high : low) = middle;
    }
    return high;
  }
  if (low == high) return low;
  const auto close = [&](double a, double b) {
    constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
    return std::abs(b - a) <= 1e-11 * sd + kRounding * std::max(std::abs(a), std::abs(b));
  };
  std::uintmax_t iterations = 500;
  const auto [a, b] = boost::math::tools::toms748_solve(excess, low, high, excess(low),
                                                        excess(high), close, iterations);
  return a + 0.5 * (b - a);
}

double TailFunction::LongestPanel(double from) const {
  double longest = std::numeric_limits<double>::infinity();
  // A hump may be narrower than numbers of its size can tell.
  const double least = 1e-9 * sd;
  for (const auto& [middle, width] : humps)
    longest = std::min(longest, std::max({width, least, 0.5 * std::abs(from - middle)}));
  return longest;
}

// The integral of (F(t) - 1[t >= y])^2.
double TailFunction::Crps(double y) const {
  const auto squared = [&](double t) {
    const double p = tail(t, t >= y);
    return p * p;
  };
  constexpr double kNegligible = 1e-9;
  const double median = Quantile(0.5);
  if (std::isnan(median + y)) return std::numeric_limits<double>::quiet_NaN();
  if (discrete) {
    // Beyond these every term is 1 on the way to y and 0 behind it, which needs no sum.
    constexpr double kFar = 1e-12;
    const double low = Quantile(kFar), high = Quantile(1 - kFar);
    // A sum over whole numbers; of a wide distribution, of an odd number of them by the middle one.
    const double half = std::floor(sd / 400);
    const double stride = 2 * half + 1;
    double sum = std::max(low - y, 0.0) + std::max(y - 1 - high, 0.0);
    for (const double step : {stride, -stride}) {
      double t = step > 0 ? std::max(y, low) + half : std::min(y - 1, high) - half;
      for (; t >= 0; t += step) {
        const double term = stride * squared(t);
        sum += term;
        const bool past = step > 0 ? t > median : t < median;
        if (past && !(term >= kNegligible * (sum + stride))) break;
      }
    }
    return sum;
  }
  double spread = 0.5 * (Quantile(0.75) - Quantile(0.25));
  if (!(spread > 0) && !jumps.empty()) spread = 0.5 * sd;
  if (!(spread > 0)) return std::abs(y - median);
  // What F does, it does around the median: panels grow with the distance from it.
  double sum = 0;
  for (const int sign : {1, -1}) {
    const double target = sign * (y - median);  // its distance on this side
    double begin = 0;
    double last = target;  // from here on F comes to its end
    for (const auto& [middle, width] : humps) last = std::max(last, sign * (middle - median));
    for (double length = spread;; length *= 2) {
      double end = begin + std::min(length, LongestPanel(median + sign * begin));
      if (begin < target && target < end) end = target;
      for (const double jump : jumps) {
        const double place = sign * (jump - median);
        if (begin < place && place < end) end = place;
      }
      double part = 0;
      ForEachNode(begin, end, {}, [&](double distance, double weight) {
        part += weight * squared(median + sign * distance);
      });
      sum += part;
      begin = end;
      if (begin >= last && !(part >= kNegligible * (sum + spread))) break;
    }
  }
  return sum;
}

}  // namespace fathom
