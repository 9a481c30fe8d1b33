#include "fathom/distribution/prediction.h"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/quadrature.h"

namespace fathom {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kLogTwoPi = std::log(2 * std::numbers::pi);

// P(X <= y), or P(X > y) if `upper`, of a Gaussian that may be a point mass.
double GaussianTail(double y, double mean, double var, bool upper) {
  if (var == 0) return (y >= mean) != upper ? 1 : 0;
  const double z = (y - mean) / std::sqrt(var);
  return NormalCdf(upper ? -z : z);
}

// The tail of the mixture of Gaussians, of which y may be what is observed.
double FunctionTail(const Prediction& f, Index n, Index d, double at, bool upper) {
  double sum = 0;
  for (Index s = 0; s < f.size(); ++s) {
    const Moments& c = f.components[s];
    sum += f.weights[s] * GaussianTail(at, c.mean(n, d), c.var(n, d), upper);
  }
  return std::min(sum, 1.0);
}

// E|X| of X ~ N(mean, var).
double MeanAbsolute(double mean, double var) {
  if (var == 0) return std::abs(mean);
  const double sd = std::sqrt(var);
  const double z = mean / sd;
  return mean * std::erf(z / std::numbers::sqrt2) +
         sd * std::sqrt(2 / std::numbers::pi) * std::exp(-0.5 * z * z);
}

// A mixture of Gaussians for one output of one row.
struct MixtureCell {
  const Vector& weights;
  Vector mean, var;  // [S]
};

// E|X - y| - 1/2 E|X - X'|, X and X' independent draws of the mixture: S^2/2 pairs.
double CrpsByPairs(const MixtureCell& x, double y) {
  double to_target = 0, spread = 0;
  for (Index s = 0; s < x.mean.size(); ++s) {
    to_target += x.weights[s] * MeanAbsolute(y - x.mean[s], x.var[s]);
    double to_others = 0.5 * x.weights[s] * MeanAbsolute(0, 2 * x.var[s]);
    for (Index t = 0; t < s; ++t)
      to_others += x.weights[t] * MeanAbsolute(x.mean[s] - x.mean[t], x.var[s] + x.var[t]);
    spread += 2 * x.weights[s] * to_others;
  }
  return to_target - 0.5 * spread;
}

// The integral of (F(t) - 1[t >= y])^2 over panels on which F is smooth, with S cdfs at each node.
// False where that is not cheaper than CrpsByPairs, or a component is a point mass.
bool CrpsByPanels(const MixtureCell& x, double y, double* crps) {
  // Further out a component's cdf is 0 or 1 to 1e-12. With panels of up to 5 of its standard
  // deviations the errors were 1e-13.
  constexpr double kReach = 7;
  constexpr double kStep = 5;
  // A panel costs as much as the pairs of 3 (narrow) to 20 (wide) components, measured. 1000
  // components that are as wide as their scatter take a quarter of the time of their pairs.
  constexpr Index kComponentsPerPanel = 12;
  const Vector sd = x.var.cwiseSqrt();
  const double lo = (x.mean - kReach * sd).minCoeff();
  const double hi = (x.mean + kReach * sd).maxCoeff();
  if (!(sd.minCoeff() > 0) || !std::isfinite(hi - lo)) return false;
  std::vector<Zone> zones(static_cast<std::size_t>(sd.size()));
  for (Index s = 0; s < sd.size(); ++s)
    zones[s] = {x.mean[s] - kReach * sd[s], x.mean[s] + kReach * sd[s], kStep * sd[s]};
  Index panels = 0;
  for (double end = lo; end < hi; end = PanelEnd(end, hi, zones)) {
    if (kComponentsPerPanel * ++panels > sd.size()) return false;
  }

  double sum = std::max({0.0, lo - y, y - hi});  // out there F is 0 or 1
  const auto add = [&](bool upper) {
    return [&, sign = upper ? -1 : 1](double t, double weight) {
      double tail = 0;
      for (Index s = 0; s < sd.size(); ++s) {
        const double z = sign * (t - x.mean[s]) / sd[s];
        if (z > -kReach) tail += x.weights[s] * (z < kReach ? NormalCdf(z) : 1);
      }
      sum += weight * tail * tail;
    };
  };
  ForEachNode(lo, std::min(y, hi), zones, add(false));
  ForEachNode(std::max(y, lo), hi, zones, add(true));
  *crps = sum;
  return true;
}

// log of the sum of exponentials of at least one term; -inf if every term is.
double LogSumExp(const Vector& terms) {
  if (terms.hasNaN()) return std::numeric_limits<double>::quiet_NaN();
  const double largest = terms.maxCoeff();
  if (std::isinf(largest)) return largest;
  return largest + std::log((terms.array() - largest).exp().sum());
}

}  // namespace

double LogNormalPdf(double x, double mean, double var) {
  if (var == 0) return x == mean ? kInfinity : -kInfinity;
  const double difference = x - mean;
  return -0.5 * (kLogTwoPi + std::log(var) + difference * difference / var);
}

double NormalCdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

double NormalQuantile(double probability) {
  Require(probability > 0 && probability < 1, "probability", "between 0 and 1, both excluded",
          probability);
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * probability);
}

Prediction Prediction::Gaussian(Moments moments) {
  Prediction prediction;
  prediction.components.push_back(std::move(moments));
  prediction.weights = Vector::Ones(1);
  return prediction;
}

Moments Prediction::Component(Index s) const {
  return observed() ? observations[s]->Observe(components[s]) : components[s];
}

Matrix Prediction::Mean() const {
  Matrix mean = Matrix::Zero(rows(), outputs());
  for (Index s = 0; s < size(); ++s) {
    if (observed()) {
      mean += weights[s] * Component(s).mean;
    } else {
      mean += weights[s] * components[s].mean;
    }
  }
  return mean;
}

Moments Prediction::MixtureMoments() const {
  if (size() == 1) return Component(0);
  std::vector<Moments> seen;
  for (Index s = 0; observed() && s < size(); ++s) seen.push_back(Component(s));
  const std::vector<Moments>& parts = observed() ? seen : components;
  Moments all;
  all.SetZero(rows(), outputs());
  for (Index s = 0; s < size(); ++s) all.mean += weights[s] * parts[s].mean;
  // Deviations from the mean, not E[x^2] - mean^2, which cancels when the mean is large.
  for (Index s = 0; s < size(); ++s) {
    const auto& [mean, var] = parts[s];
    all.var.array() += weights[s] * (var.array() + (mean - all.mean).array().square());
  }
  return all;
}

double Prediction::Tail(Index n, Index d, double y, bool upper) const {
  if (!observed()) return FunctionTail(*this, n, d, y, upper);
  double sum = 0;
  for (Index s = 0; s < size(); ++s) {
    const Moments& c = components[s];
    sum += weights[s] * observations[s]->Tail(d, y, &c.mean(n, 0), &c.var(n, 0), upper);
  }
  return std::min(sum, 1.0);
}

TailFunction Prediction::ObservedTail(Index n, Index d) const {
  Prediction row{.components = {}, .weights = weights, .observations = observations};
  for (const Moments& c : components)
    row.components.emplace_back(Matrix(c.mean.row(n)), Matrix(c.var.row(n)));
  const Observation& observation = *observations.front();
  const Observation::Lattice grid = observation.lattice();
  const Moments y = row.MixtureMoments();
  std::vector<Observation::Hump> humps;
  for (Index s = 0; s < size(); ++s) {
    const Moments& c = components[s];
    for (auto [middle, width] : observations[s]->Humps(&c.mean(n, 0), &c.var(n, 0)))
      humps.push_back({(middle - grid.origin) / grid.step, width / grid.step});
  }
  return {
      .tail = [this, n, d, grid](
                  double t, bool upper) { return Tail(n, d, grid.origin + grid.step * t, upper); },
      .discrete = discrete(),
      .mean = (y.mean(0, d) - grid.origin) / grid.step,
      .sd = std::sqrt(y.var(0, d)) / grid.step,
      .jumps = observation.jumps(),
      .humps = std::move(humps)};
}

double Prediction::Cdf(Index n, Index d, double y) const { return Tail(n, d, y, false); }

double Prediction::Quantile(Index n, Index d, double probability) const {
  const bool of_function = !observed() || IncreasingInFunction();
  if (!of_function || CommonSd(n, d) > 0) return RowQuantile(*this, probability)(n, d);
  // The row has nothing in common with others that would have to be found first.
  const double quantile = GaussianQuantile(n, d, probability);
  return observed() ? observations.front()->At(quantile) : quantile;
}

RowQuantile::RowQuantile(const Prediction& prediction, double probability)
    : prediction_(prediction),
      probability_(probability),
      of_function_(!prediction.observed() || prediction.IncreasingInFunction()) {
  if (of_function_ && prediction.scales.size() == prediction.size())
    unit_ = prediction.UnitQuantile(probability);
}

double RowQuantile::operator()(Index n, Index d) const {
  const Prediction& y = prediction_;
  if (!of_function_) {
    const Observation::Lattice grid = y.observations.front()->lattice();
    return grid.origin + grid.step * y.ObservedTail(n, d).Quantile(probability_);
  }
  const double sd = y.CommonSd(n, d);
  const double quantile =
      sd > 0 ? y.components.back().mean(n, d) + sd * unit_ : y.GaussianQuantile(n, d, probability_);
  return y.observed() ? y.observations.front()->At(quantile) : quantile;
}

std::vector<RowQuantile> RowQuantiles(const Prediction& prediction,
                                      const std::vector<double>& probabilities) {
  std::vector<RowQuantile> quantiles;
  for (const double probability : probabilities) quantiles.emplace_back(prediction, probability);
  return quantiles;
}

bool Prediction::IncreasingInFunction() const {
  const auto& first = observations.front();
  return first->increasing() && std::all_of(observations.begin(), observations.end(),
                                            [&](const auto& other) { return other == first; });
}

double Prediction::UnitQuantile(double probability) const {
  Prediction unit{.components = {}, .weights = weights};
  for (const double scale : scales)
    unit.components.emplace_back(Matrix::Zero(1, 1), Matrix::Constant(1, 1, scale * scale));
  return unit.GaussianQuantile(0, 0, probability);
}

double Prediction::CommonSd(Index n, Index d) const {
  if (scales.size() != size()) return 0;
  constexpr double kRounding = 1e-14;
  const Index last = size() - 1;  // the widest, which a floor reaches last
  const double var = components[last].var(n, d) / (scales[last] * scales[last]);
  for (Index s = 0; s < size(); ++s) {
    const double own = components[s].var(n, d);
    if (components[s].mean(n, d) != components[last].mean(n, d) ||
        !(std::abs(own - scales[s] * scales[s] * var) <= kRounding * own))
      return 0;
  }
  return std::sqrt(var);
}

double Prediction::GaussianQuantile(Index n, Index d, double probability) const {
  const double z = NormalQuantile(probability);
  // The mixture's quantile lies between the components' own.
  double low = kInfinity, high = -kInfinity, narrowest = kInfinity;
  for (Index s = 0; s < size(); ++s) {
    const double sd = std::sqrt(components[s].var(n, d));
    const double quantile = components[s].mean(n, d) + sd * z;
    if (std::isnan(quantile)) return quantile;
    low = std::min(low, quantile);
    high = std::max(high, quantile);
    if (sd > 0) narrowest = std::min(narrowest, sd);
  }
  if (low == high || !std::isfinite(low) || !std::isfinite(high)) return low;

  // Solve in the smaller tail, where probabilities keep their relative accuracy. 1 - p is exact
  // for p > 1/2.
  const bool upper = probability > 0.5;
  const double target = upper ? 1 - probability : probability;
  const auto excess = [&](double y) {
    const double tail = FunctionTail(*this, n, d, y, upper);
    return upper ? target - tail : tail - target;
  };
  const double at_low = excess(low), at_high = excess(high);
  if (at_low >= 0) return low;
  if (at_high <= 0) return high;
  const double absolute = std::isfinite(narrowest) ? 1e-11 * narrowest : 0;
  const auto close = [&](double a, double b) {
    constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
    return std::abs(b - a) <= absolute + kRounding * std::max(std::abs(a), std::abs(b));
  };
  std::uintmax_t iterations = 500;
  const auto [a, b] =
      boost::math::tools::toms748_solve(excess, low, high, at_low, at_high, close, iterations);
  // Inside the last bracket a point mass is the quantile itself, not merely near to it.
  for (const Moments& component : components) {
    const double mean = component.mean(n, d);
    if (component.var(n, d) == 0 && mean >= a && mean <= b) return mean;
  }
  return a + 0.5 * (b - a);
}

double Prediction::Crps(Index n, Index d, double y) const {
  if (observed()) {
    const Observation::Lattice grid = observations.front()->lattice();
    return grid.step * ObservedTail(n, d).Crps((y - grid.origin) / grid.step);
  }
  MixtureCell x{weights, Vector(size()), Vector(size())};
  for (Index s = 0; s < size(); ++s) {
    x.mean[s] = components[s].mean(n, d);
    x.var[s] = components[s].var(n, d);
  }
  double crps = 0;
  if (CrpsByPanels(x, y, &crps)) return crps;
  return CrpsByPairs(x, y);
}

double Prediction::LogDensity(Index n, const Eigen::Ref<const Eigen::RowVectorXd>& y) const {
  FATHOM_CHECK(y.size() == outputs());
  if (y.array().isNaN().all()) return std::numeric_limits<double>::quiet_NaN();
  Vector terms(size());
  if (observed()) {
    const Vector row = y.transpose();
    for (Index s = 0; s < size(); ++s) {
      const Moments& c = components[s];
      terms[s] = std::log(weights[s]) +
                 observations[s]->LogDensity(row.data(), &c.mean(n, 0), &c.var(n, 0));
    }
    return LogSumExp(terms);
  }
  for (Index s = 0; s < size(); ++s) {
    double sum = std::log(weights[s]);
    bool impossible = false;
    for (Index d = 0; d < outputs(); ++d) {
      if (std::isnan(y[d])) continue;
      const double term = LogNormalPdf(y[d], components[s].mean(n, d), components[s].var(n, d));
      impossible = impossible || term == -kInfinity;
      sum += term;
    }
    // A point mass that is missed rules the row out, however well another output is hit: that
    // output may be a point mass too, and inf - inf would be NaN.
    terms[s] = impossible ? -kInfinity : sum;
  }
  return LogSumExp(terms);
}

}  // namespace fathom
