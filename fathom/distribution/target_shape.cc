#include "fathom/distribution/target_shape.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <tuple>
#include <utility>

#include "fathom/base/error.h"

namespace fathom {

namespace {

constexpr double kBoundless = std::numeric_limits<double>::infinity();
// A value counts as on the grid if it is this near to it, in steps.
constexpr double kOnGrid = 1e-6;

double LogSum(double a, double b) {
  const double larger = std::max(a, b);
  if (larger == -kBoundless) return larger;
  return larger + std::log1p(std::exp(std::min(a, b) - larger));
}

// y given the shape and z; the functions of a row are z and, if there is a value that many rows
// have or a second hump, its probability.
class ShapedObservation : public Observation {
 public:
  explicit ShapedObservation(const TargetShape& shape) : shape_(shape), inverse_(shape.warp) {}

  Index targets() const override { return 1; }
  bool discrete() const override { return shape_.step > 0; }
  Lattice lattice() const override {
    if (!discrete()) return {};
    const double origin = shape_.has_value ? std::min(shape_.least, shape_.value) : shape_.least;
    return {origin, shape_.step};
  }
  std::vector<double> jumps() const override {
    if (!shape_.has_value || discrete()) return {};
    return {shape_.value};
  }

  std::vector<Hump> Humps(const double* m, const double* v) const override {
    if (shape_.gap == 0) return {};
    const double sd = std::sqrt(v[0]);
    std::vector<Hump> humps;
    for (const double z : {m[0], m[0] + shape_.gap})
      humps.push_back({inverse_(z), 0.5 * (inverse_(z + sd) - inverse_(z - sd))});
    return humps;
  }

  bool increasing() const override { return !shape_.has_share(); }
  double At(double z) const override { return shape_.step > 0 ? ValueAt(z) : inverse_(z); }

  Moments Observe(Moments f) const override {
    Moments y(f.rows(), 1);
    for (Index n = 0; n < f.rows(); ++n) {
      double mean = 0, var = 0;
      const double sd = std::sqrt(f.var(n, 0));
      MomentsOfRest(f.mean(n, 0), sd, &mean, &var);
      // What has the share: a point, or the upper hump.
      double apart = shape_.value, var_apart = 0;
      if (shape_.gap > 0) MomentsOfRest(f.mean(n, 0) + shape_.gap, sd, &apart, &var_apart);
      const double share = ShareIn(&f.mean(n, 0));
      const double between = shape_.has_share() ? mean - apart : 0;
      y.mean(n, 0) = mean - share * between;
      y.var(n, 0) = (1 - share) * (var + share * between * between) + share * var_apart;
    }
    return y;
  }

  double LogDensity(const double* y, const double* m, const double* v) const override {
    double rest = LogDensityOfRest(*y, m[0], v[0]);
    if (!shape_.has_share()) return rest;
    const double share = ShareIn(m);
    rest += std::log1p(-share);
    if (shape_.gap > 0)
      return LogSum(rest, std::log(share) + LogDensityOfRest(*y, m[0] + shape_.gap, v[0]));
    return shape_.IsValue(*y) ? LogSum(rest, std::log(share / shape_.value_width)) : rest;
  }

  double Tail(Index /*target*/, double y, const double* m, const double* v,
              bool upper) const override {
    const double rest = TailOfRest(y, m[0], std::sqrt(v[0]), upper);
    if (!shape_.has_share()) return rest;
    const double share = ShareIn(m);
    const double apart = shape_.gap > 0 ? TailOfRest(y, m[0] + shape_.gap, std::sqrt(v[0]), upper)
                                        : ((y >= shape_.value) != upper ? 1 : 0);
    return (1 - share) * rest + share * apart;
  }

 private:
  double ShareIn(const double* m) const { return shape_.has_share() ? m[1] : 0; }

  double LogDensityOfRest(double y, double mean, double var) const {
    if (shape_.step > 0) {
      const auto [low, high] = shape_.CellOf(y);
      return LogProbabilityBetween(low, high, mean, std::sqrt(var)) - std::log(shape_.step);
    }
    return LogNormalPdf(shape_.warp.Forward(y), mean, var) + shape_.warp.LogSlope(y);
  }

  double TailOfRest(double y, double mean, double sd, bool upper) const {
    double edge = 0;
    if (shape_.step > 0) {
      const double place = std::floor((y - shape_.least) / shape_.step + kOnGrid);
      const double at = shape_.least + place * shape_.step;
      if (place < 0) return upper ? 1 : 0;
      if (at >= shape_.most) return upper ? 0 : 1;
      edge = shape_.warp.Forward(at + 0.5 * shape_.step);
    } else {
      edge = shape_.warp.Forward(y);
    }
    const double z = sd > 0 ? (edge - mean) / sd : (edge >= mean ? kBoundless : -kBoundless);
    return NormalCdf(upper ? -z : z);
  }

  void MomentsOfRest(double m, double sd, double* mean, double* var) const {
    constexpr double kReach = 6.5;
    if (shape_.step > 0) {
      const double lowest = ValueAt(m - kReach * sd), highest = ValueAt(m + kReach * sd);
      constexpr double kMostCells = 100;
      if ((highest - lowest) / shape_.step <= kMostCells)
        return MomentsOfCells(m, sd, {lowest, highest}, mean, var);
    } else if (shape_.warp.kind == Warp::Kind::kNone) {
      *mean = m;
      *var = sd * sd;
      return;
    }
    // The trapezoidal rule, which for smooth functions under a Gaussian is as good as any.
    constexpr int kNodes = 53;
    const auto node = [](int i) { return kReach * (2.0 * i / (kNodes - 1) - 1); };
    static const std::array<double, kNodes> kWeights = [&node] {
      std::array<double, kNodes> weights;
      for (int i = 0; i < kNodes; ++i) weights[i] = std::exp(-0.5 * node(i) * node(i));
      return weights;
    }();
    double sum = 0, first = 0, second = 0;
    for (int i = 0; i < kNodes; ++i) {
      const double u = node(i);
      const double weight = kWeights[i];
      double y = inverse_(m + sd * u);
      if (shape_.step > 0) y = std::clamp(y, shape_.least, shape_.most);
      sum += weight;
      first += weight * y;
      second += weight * y * y;
    }
    *mean = first / sum;
    *var = std::max(0.0, second / sum - *mean * *mean);
  }

  // Of a distribution between two values, by the probability of each step between them.
  void MomentsOfCells(double m, double sd, std::pair<double, double> range, double* mean,
                      double* var) const {
    double first = 0, second = 0;
    double below = 0;
    for (double y = range.first; y <= range.second + kOnGrid * shape_.step; y += shape_.step) {
      const bool last = y + 0.5 * shape_.step > range.second;
      const double up_to = last ? 1 : TailOfRest(y, m, sd, false);
      const double from = y - range.first;  // small numbers cancel less
      first += (up_to - below) * from;
      second += (up_to - below) * from * from;
      below = up_to;
    }
    *mean = range.first + first;
    *var = std::max(0.0, second - first * first);
  }

  // The step whose cell z lies in.
  double ValueAt(double z) const {
    const double place = std::round((inverse_(z) - shape_.least) / shape_.step);
    return std::min(shape_.least + std::max(place, 0.0) * shape_.step, shape_.most);
  }

  TargetShape shape_;
  InverseWarp inverse_;
};

}  // namespace

double Warp::Bent(double y) const {
  if (kind == Kind::kLog) return std::log(y + shift);
  return std::log((y - low + shift) / (high - y + shift));
}

double Warp::Slope(double y) const {
  if (kind == Kind::kLog) return 1 / (y + shift);
  return 1 / (y - low + shift) + 1 / (high - y + shift);
}

double Warp::Forward(double y) const {
  if (kind == Kind::kNone) return y;
  const double inside = std::clamp(y, low, high);
  return Bent(inside) + (y == inside ? 0 : (y - inside) * Slope(inside));
}

double Warp::LogSlope(double y) const {
  return kind == Kind::kNone ? 0 : std::log(Slope(std::clamp(y, low, high)));
}

InverseWarp::InverseWarp(const Warp& warp) : warp_(warp) {
  if (warp.kind == Warp::Kind::kNone) return;
  low_ = {warp.low, warp.Bent(warp.low), warp.Slope(warp.low)};
  high_ = {warp.high, warp.Bent(warp.high), warp.Slope(warp.high)};
}

double InverseWarp::operator()(double z) const {
  if (warp_.kind == Warp::Kind::kNone) return z;
  if (z <= low_.z) return Straight(low_, z);
  if (z >= high_.z) return Straight(high_, z);
  const auto& [kind, shift, low, high] = warp_;
  if (kind == Warp::Kind::kLog) return std::exp(z) - shift;
  return low - shift + (high - low + 2 * shift) / (1 + std::exp(-z));
}

bool TargetShape::IsValue(double y) const {
  return has_value && std::abs(y - value) < 0.5 * value_width;
}

TargetShape::Cell TargetShape::CellOf(double y) const {
  const double place = std::round((y - least) / step);
  const double at = least + place * step;
  // Beyond the ends there is nothing.
  if (place < 0) return {-kBoundless, -kBoundless};
  if (at > most + 0.5 * step) return {kBoundless, kBoundless};
  return {place == 0 ? -kBoundless : warp.Forward(at - 0.5 * step),
          at + 0.5 * step > most ? kBoundless : warp.Forward(at + 0.5 * step)};
}

std::string Describe(const TargetShape& shape) {
  if (shape.is_plain()) return {};
  std::ostringstream text;
  text.precision(4);
  if (shape.has_value && shape.step > 0 && shape.least == shape.most) {
    text << "predicted as the probabilities of both";
    return text.str();
  }
  text << "predicted ";
  if (shape.step > 0) text << "by probabilities of steps of " << shape.step;
  if (shape.warp.kind != Warp::Kind::kNone)
    text << (shape.step > 0 ? ", " : "") << "on a " << NameOf(shape.warp.kind) << " scale";
  if (shape.has_value) {
    const bool alone = shape.step == 0 && shape.warp.kind == Warp::Kind::kNone;
    text << (alone ? "with" : ", with") << " a probability of its own for " << shape.value;
  }
  if (shape.gap > 0)
    text << (shape.warp.kind == Warp::Kind::kNone ? "with" : ", with") << " two humps, "
         << shape.gap << " apart";
  return text.str();
}

void CheckShape(const TargetShape& shape) {
  const Warp& warp = shape.warp;
  const bool bends = warp.kind != Warp::Kind::kNone;
  const double smallest = warp.kind == Warp::Kind::kLog ? warp.low + warp.shift : warp.shift;
  if (!std::isfinite(warp.shift) || !std::isfinite(warp.low) || !std::isfinite(warp.high) ||
      (bends && !(warp.low < warp.high && smallest > 0)))
    ThrowError("the warp of its target is out of range");
  if (!std::isfinite(shape.step) || shape.step < 0 || !std::isfinite(shape.least) ||
      (shape.step > 0 && !(shape.most >= shape.least)))
    ThrowError("the steps of its target are out of range");
  if (shape.has_value &&
      !(std::isfinite(shape.value) && std::isfinite(shape.value_width) && shape.value_width > 0))
    ThrowError("the frequent value of its target is out of range");
  if (!std::isfinite(shape.gap) || shape.gap < 0 ||
      (shape.gap > 0 && (shape.step > 0 || shape.has_value)))
    ThrowError("the humps of its target are out of range");
}

Prediction Shaped(const TargetShape& shape, Prediction z, const Vector& share) {
  if (shape.is_plain()) return z;
  FATHOM_CHECK(!z.observed() && z.outputs() == 1);
  FATHOM_CHECK(share.size() == (shape.has_share() ? z.rows() : 0));
  if (shape.has_share()) {
    for (Moments& component : z.components) {
      Moments both(component.rows(), 2);
      both.mean << component.mean, share;
      both.var << component.var, Vector::Zero(component.rows());
      component = std::move(both);
    }
  }
  z.observations.assign(z.components.size(), std::make_shared<ShapedObservation>(shape));
  return z;
}

double LogProbabilityBetween(double low, double high, double mean, double sd) {
  double a = (low - mean) / sd;
  double b = (high - mean) / sd;
  if (a > 0) std::tie(a, b) = std::pair(-b, -a);  // where probabilities keep their accuracy
  return std::log(std::max(0.0, NormalCdf(b) - NormalCdf(a)));
}

}  // namespace fathom
