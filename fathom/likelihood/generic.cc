#include "fathom/likelihood/generic.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "fathom/base/error.h"
#include "fathom/base/quadrature.h"
#include "fathom/base/random.h"
#include "fathom/likelihood/labels.h"

namespace fathom {

namespace {

// Variances below count as this, where log p is flat over sqrt(v) for every purpose but the
// difference quotient of d_v keeps its digits.
constexpr double kLeastVariance = 1e-12;
// Not std::max, behind which a variance that is not a number would hide.
double StandardDeviation(double v) { return std::sqrt(v < kLeastVariance ? kLeastVariance : v); }

constexpr double kFall = 40;  // of a log density, at which its tail ends

// The values of y around the one mode of a density, for integrals over y.
class Landscape {
 public:
  using Values = GenericOptions::Values;
  using LogDensity = std::function<double(double)>;

  Landscape(Values values, LogDensity log_density)
      : values_(values), log_density_(std::move(log_density)) {
    FindMode();
    top_ = log_density_(mode_);
    below_ = Width(-1);
    above_ = Width(1);
  }

  // Calls visit(y, probability) over the values in (from, to].
  template <typename Visit>
  void ForEachValue(double from, double to, const Visit& visit) const {
    if (values_ == Values::kCounts) {
      const auto add = [&](double y, double drop) {
        if (y > from && y <= to) visit(y, std::exp(top_ - drop));
      };
      for (double y = mode_, drop = 0; y >= 0 && drop < kFall; drop = Drop(--y)) add(y, drop);
      double y = mode_ + 1;
      for (double drop = Drop(y); drop < kFall; drop = Drop(++y)) add(y, drop);
      return;
    }
    OneSide(-1, below_, from, to, visit);
    OneSide(1, above_, from, to, visit);
  }

 private:
  double Drop(double y) const { return top_ - log_density_(y); }

  // Among the values 0 and 1, 2, 5, 10, ... with either sign, the best and its neighbours hold the
  // mode; golden sections find it.
  void FindMode() {
    std::vector<double> places;
    if (values_ != Values::kReal) places.push_back(0);
    for (double ten = values_ == Values::kCounts ? 1 : 1e-9; ten < 1e13; ten *= 10) {
      for (const double digit : {1.0, 2.0, 5.0}) places.push_back(digit * ten);
    }
    if (values_ == Values::kReal) {
      const std::vector<double> positive = places;
      places.assign(1, 0);
      for (const double y : positive) places.insert(places.end(), {y, -y});
      std::sort(places.begin(), places.end());
    }
    const auto better = [&](double a, double b) { return log_density_(a) < log_density_(b); };
    const auto best = std::max_element(places.begin(), places.end(), better);
    double low = best == places.begin() ? *best : best[-1];
    double high = best + 1 == places.end() ? *best : best[1];
    constexpr double kGolden = 0.6180339887498949;
    const double least = values_ == Values::kCounts ? 2 : 1e-7 * (high - low);
    while (high - low > least) {
      const double a = high - kGolden * (high - low);
      const double b = low + kGolden * (high - low);
      (log_density_(a) < log_density_(b) ? low : high) = log_density_(a) < log_density_(b) ? a : b;
    }
    mode_ = 0.5 * (low + high);
    if (values_ != Values::kCounts) return;
    mode_ = std::max(0.0, std::round(mode_) - 2);
    for (double y = mode_; y < std::round(high) + 3; ++y) {
      if (better(mode_, y)) mode_ = y;
    }
  }

  // The distance from the mode at which the log density is 1/2 lower.
  double Width(int sign) const {
    const double room = values_ == Values::kPositive && sign < 0 ? mode_ : INFINITY;
    double low = 0;
    double high = std::max(1e-9 * std::abs(mode_), 1e-300);
    while (high < room && Drop(mode_ + sign * high) < 0.5) {
      low = high;
      high *= 2;
    }
    for (int i = 0; i < 20; ++i) {
      const double middle = 0.5 * (low + high);
      (Drop(mode_ + sign * middle) < 0.5 ? low : high) = middle;
    }
    return std::min(high, room);
  }

  template <typename Visit>
  void OneSide(int sign, double width, double from, double to, const Visit& visit) const {
    const double room = values_ == Values::kPositive && sign < 0 ? mode_ : INFINITY;
    double begin = 0;
    for (double length = width; begin < room; length *= 1.5) {
      const double end = std::min(begin + length, room);
      const double a = mode_ + sign * begin;
      const double b = mode_ + sign * end;
      const double lo = std::max(std::min(a, b), from);
      const double hi = std::min(std::max(a, b), to);
      ForEachNode(lo, hi, {},
                  [&](double y, double weight) { visit(y, weight * std::exp(log_density_(y))); });
      if (Drop(b) > kFall) break;
      begin = end;
    }
  }

  Values values_;
  LogDensity log_density_;
  double mode_ = 0, top_ = 0, below_ = 0, above_ = 0;
};

}  // namespace

GenericLikelihood::GenericLikelihood(GenericOptions options) : options_(std::move(options)) {
  if (options_.name.empty()) ThrowError("a likelihood of your own needs a name; give one");
  if (!options_.log_density)
    ThrowError("the likelihood '", options_.name, "' has no log_density; give log p(y|f)");
  Require(options_.num_nodes >= 1, "nodes of a likelihood", "at least 1", options_.num_nodes);
  const Index n = options_.num_nodes;
  if (options_.nodes == GenericOptions::Nodes::kGaussHermite) {
    const HermiteRule rule = MakeHermiteRule(n);
    nodes_ = rule.nodes;
    weights_ = rule.weights;
    return;
  }
  RandomStream stream(options_.seed);
  nodes_.resize(n);
  for (Index k = 0; k < n; ++k) nodes_[k] = k % 2 == 1 ? -nodes_[k - 1] : stream.Normal();
  weights_ = Vector::Constant(n, 1 / static_cast<double>(n));
}

std::string GenericLikelihood::TargetRule(Index /*outputs*/, double y) const {
  switch (options_.values) {
    case GenericOptions::Values::kReal:
      break;
    case GenericOptions::Values::kPositive:
      if (!(y > 0)) return "positive";
      break;
    case GenericOptions::Values::kCounts:
      return CountRule(y);
  }
  return {};
}

double GenericLikelihood::Mix(double alpha, double y, double m, double sd, Vector* share) const {
  const Index K = nodes_.size();
  Vector l(K);
  for (Index k = 0; k < K; ++k) l[k] = options_.log_density(y, m + sd * nodes_[k]);
  *share = weights_;
  if (alpha == 0) return weights_.dot(l);
  const double top = l.maxCoeff<Eigen::PropagateNaN>();
  share->array() *= (alpha * (l.array() - top)).exp();
  const double Z = share->sum();
  *share *= alpha / Z;
  return alpha * top + std::log(Z);
}

double GenericLikelihood::LogZ(const LogZRow& row, const LogZSlopes& slopes) const {
  const double alpha = row.alpha;
  const Index outputs = row.outputs;
  const double* const y = row.y;
  const double* const m = row.m;
  const double* const v = row.v;
  const auto slope = [&](double target, double f) {
    if (options_.slope) return options_.slope(target, f);
    // The error of the difference, h^2 / 6 times the third derivative, meets that of rounding.
    const double h = 1e-5 * std::max(1.0, std::abs(f));
    return (options_.log_density(target, f + h) - options_.log_density(target, f - h)) / (2 * h);
  };
  Vector share;
  double log_z = 0;
  for (Index d = 0; d < outputs; ++d) {
    const double sd = StandardDeviation(v[d]);
    log_z += Mix(alpha, y[d], m[d], sd, &share);
    slopes.m[d] = slopes.v[d] = 0;
    for (Index k = 0; k < nodes_.size(); ++k) {
      const double push = share[k] * slope(y[d], m[d] + sd * nodes_[k]);
      slopes.m[d] += push;
      slopes.v[d] += 0.5 * push * nodes_[k] / sd;
    }
  }
  return log_z;
}

double GenericLikelihood::LogDensity(double y, double m, double v) const {
  Vector share;
  return Mix(1, y, m, StandardDeviation(v), &share);
}

void GenericLikelihood::Observe(const Vector& /*parameters*/, Moments* moments) const {
  for (Index n = 0; n < moments->rows(); ++n) {
    for (Index d = 0; d < moments->cols(); ++d) {
      const double m = moments->mean(n, d);
      const double v = moments->var(n, d);
      const Landscape y(options_.values, [&](double value) { return LogDensity(value, m, v); });
      double mass = 0;
      double first = 0;
      double second = 0;
      y.ForEachValue(-INFINITY, INFINITY, [&](double value, double probability) {
        mass += probability;
        const double step = probability / mass * (value - first);
        second += probability * (value - first - step) * (value - first);
        first += step;
      });
      moments->mean(n, d) = first;
      moments->var(n, d) = second / mass;
    }
  }
}

double GenericLikelihood::Tail(const Vector& /*parameters*/, Index target, double y,
                               const double* m, const double* v, bool upper) const {
  const Landscape density(options_.values,
                          [&](double value) { return LogDensity(value, m[target], v[target]); });
  double sum = 0;
  density.ForEachValue(upper ? y : -INFINITY, upper ? INFINITY : y,
                       [&](double /*value*/, double probability) { sum += probability; });
  return std::min(sum, 1.0);
}

}  // namespace fathom
