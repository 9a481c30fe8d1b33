#include "fathom/likelihood/poisson.h"

#include <algorithm>
#include <array>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <vector>

#include "fathom/distribution/prediction.h"
#include "fathom/likelihood/labels.h"
#include "fathom/likelihood/tilted.h"

namespace fathom {

namespace {

// The root of w + e^w = s: Newton's method on a convex function, from above, where it falls
// steadily.
double SolveLogSum(double s) {
  double w = s < 0 ? s : std::log1p(s);
  for (int i = 0; i < 50; ++i) {
    const double rate = std::exp(w);
    const double step = (w + rate - s) / (1 + rate);
    w -= step;
    if (std::abs(step) <= 1e-14 * (1 + std::abs(w))) break;
  }
  return w;
}

// Where a log-concave density has fallen by e^-38, from a first guess of the distance on.
template <typename Exponent>
double TailEnd(const Exponent& exponent, double u) {
  while (exponent(u) > -38) u *= 1.3;
  return u;
}

// Where N(f; m, v) exp(alpha (y f - e^f)) lives, in distances from m.
struct LogRateSupport {
  double lo, hi;
  std::vector<Zone> zones;

  LogRateSupport(double alpha, double y, double m, double v) {
    // The mode: (f - m) / v = alpha (y - e^f).
    const double offset = std::log(alpha * v);
    const double mode = SolveLogSum(m + alpha * v * y + offset) - offset;
    const double rate = alpha * std::exp(mode);
    // The exponent at a distance u from it, relative to its height.
    const auto exponent = [&](double u) { return -0.5 * u * u / v - rate * (std::expm1(u) - u); };
    const double width = 1 / std::sqrt(1 / v + rate);
    const double shift = mode - m;
    lo = TailEnd(exponent, -width);
    hi = TailEnd(exponent, width);
    zones.push_back({lo + shift, hi + shift, 2.5 * std::sqrt(v)});
    // e^f is felt from where it is 1e-17 on, and narrows the integrand as it grows.
    for (double u = std::max(lo, std::min(-39 - std::log(rate), 0.0)); u < hi; u += 1) {
      const double step = 2.5 / std::sqrt(1 / v + rate * std::exp(u + 1));
      zones.push_back({u + shift, u + 1 + shift, std::min(step, 2.0)});
    }
    lo += shift;
    hi += shift;
  }
};

TiltedLogZ<0> LogZOf(double alpha, double y, double m, double v) {
  const double log_factorial = std::lgamma(y + 1);
  if (alpha == 0) {
    const double mean = std::exp(m + 0.5 * v);
    return {y * m - mean - log_factorial, y - mean, -0.5 * mean, {}};
  }
  const auto log_density = [&](double f) -> LogDensityAt<0> {
    const double rate = std::exp(f);
    return {y * f - rate - log_factorial, y - rate, -rate, {}};
  };
  if (std::isnan(m + v) || v < 1e-200) return IntegrateTilted<0>(alpha, m, v, {}, log_density);
  const LogRateSupport support(alpha, y, m, v);
  return IntegrateTilted<0>(alpha, m, v, {support.lo, support.hi, support.zones}, log_density);
}

}  // namespace

void Poisson::StartFrom(const Matrix& y, Vector* parameters) const {
  for (Index d = 0; d < y.cols(); ++d) {
    const auto unknown = y.col(d).array().isNaN();
    const auto known = static_cast<double>(y.rows() - unknown.count());
    const double mean = unknown.select(0, y.col(d)).sum() / std::max(known, 1.0);
    (*parameters)[d] = std::max(mean, 1e-3);
  }
}

std::string Poisson::TargetRule(Index /*outputs*/, double y) const { return CountRule(y); }

double Poisson::LogZ(const LogZRow& row, const LogZSlopes& slopes) const {
  const Vector& parameters = row.parameters;
  const double alpha = row.alpha;
  const Index outputs = row.outputs;
  const double* const y = row.y;
  const double* const m = row.m;
  const double* const v = row.v;
  double log_z = 0;
  for (Index d = 0; d < outputs; ++d) {
    if (std::isnan(y[d])) {  // nothing is known
      slopes.m[d] = slopes.v[d] = 0;
      continue;
    }
    const TiltedLogZ<0> z = LogZOf(alpha, y[d], m[d] + std::log(parameters[d]), v[d]);
    log_z += z.value;
    slopes.m[d] = z.d_m;
    slopes.v[d] = z.d_v;
    slopes.parameters[d] += z.d_m / parameters[d];
  }
  return log_z;
}

void Poisson::Observe(const Vector& parameters, Moments* moments) const {
  for (Index n = 0; n < moments->rows(); ++n) {
    for (Index d = 0; d < moments->cols(); ++d) {
      const double v = moments->var(n, d);
      const double mean = parameters[d] * std::exp(moments->mean(n, d) + 0.5 * v);
      moments->mean(n, d) = mean;
      moments->var(n, d) = mean + std::expm1(v) * mean * mean;
    }
  }
}

double Poisson::Tail(const Vector& parameters, Index target, double y, const double* m,
                     const double* v, bool upper) const {
  const double k = std::floor(y);
  if (k < 0) return upper ? 1 : 0;
  const double shape = k + 1;
  const double centre = m[target] + std::log(parameters[target]);
  const double sd = std::sqrt(v[target]);
  if (sd == 0) {
    const double rate = std::exp(centre);
    return upper ? boost::math::gamma_p(shape, rate) : boost::math::gamma_q(shape, rate);
  }
  // log G has its mode at log(k + 1), a width of 1 / sqrt(k + 1), and this density at a distance u.
  const double mode = std::log(shape);
  const double height = shape * boost::math::gamma_p_derivative(shape, shape);
  const auto exponent = [&](double u) { return -shape * (std::expm1(u) - u); };
  const double width = 1 / std::sqrt(shape);
  const double reach = kGaussianReach * sd;
  const double step = centre - mode;  // of Phi, in distances from the mode
  double lo = TailEnd(exponent, -width);
  double hi = TailEnd(exponent, width);
  double sum = 0;
  if (upper) {
    hi = std::min(hi, step + reach);
  } else {
    lo = std::max(lo, step - reach);
  }
  const std::array<Zone, 3> zones{
      {{lo, hi, 2}, {-10 * width, hi, 2.5 * width}, {step - reach, step + reach, 2.5 * sd}}};
  ForEachNode(lo, hi, zones, [&](double u, double weight) {
    const double z = (u - step) / sd;
    sum += weight * height * std::exp(exponent(u)) * NormalCdf(upper ? -z : z);
  });
  return std::min(sum, 1.0);
}

}  // namespace fathom
