// Expectations over one function by quadrature, for likelihoods without a closed form. With
// l(f) = log p(y|f) and f ~ N(m, v),
//   log Z = log E[exp(alpha l)]
//   d log Z / dm = E~[alpha l'],   d log Z / dv = 1/2 E~[(alpha l')^2 + alpha l''],  [tilted-log-z]
//   d log Z / dtheta = E~[alpha dl/dtheta]
// where E~ is under the density proportional to N(f; m, v) exp(alpha l); for alpha = 0, E[l] and
// the same of its derivatives under the Gaussian alone.
#ifndef FATHOM_LIKELIHOOD_TILTED_H_
#define FATHOM_LIKELIHOOD_TILTED_H_

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>

#include "fathom/base/quadrature.h"

namespace fathom {

// l at one f, and its derivatives with respect to f and to P parameters.
template <std::size_t P>
struct LogDensityAt {
  double value, slope, curvature;
  std::array<double, P> d_parameters;
};

template <std::size_t P>
struct TiltedLogZ {
  double value, d_m, d_v;
  std::array<double, P> d_parameters;
};

// Standard deviations beyond which a Gaussian holds less than 4e-18.
inline constexpr double kGaussianReach = 8.7;

// The values of f - m from lo to hi, and how fine the panels must be among them.
struct TiltedRange {
  double lo = 0, hi = 0;
  std::span<const Zone> zones = {};
};

// The numbers above from a range that holds all but e^-38 of the integral. Nothing is read of it if
// v is tiny. log_density(f) gives LogDensityAt<P>.
template <std::size_t P, typename LogDensity>
TiltedLogZ<P> IntegrateTilted(double alpha, double m, double v, const TiltedRange& range,
                              const LogDensity& log_density) {
  if (std::isnan(m + v)) return {NAN, NAN, NAN, {}};  // lest it vanish in an empty range
  const double sd = std::sqrt(v);
  const double power = alpha == 0 ? 1 : alpha;
  double top = -INFINITY;  // the exponents are kept relative to it
  double mass = 0;
  TiltedLogZ<P> sum{};
  const auto scale = [&](double factor) {
    mass *= factor;
    sum.value *= factor;
    sum.d_m *= factor;
    sum.d_v *= factor;
    for (double& d : sum.d_parameters) d *= factor;
  };
  const auto add = [&](double f, double weight, double exponent) {
    const LogDensityAt<P> l = log_density(f);
    if (alpha > 0) exponent += alpha * l.value;
    if (!(exponent < top + 100)) {  // a rare step up, so that nothing overflows
      scale(std::exp(top - exponent));
      top = exponent;
    }
    const double w = weight * std::exp(exponent - top);
    const double slope = power * l.slope;
    mass += w;
    sum.value += w * l.value;
    sum.d_m += w * slope;
    sum.d_v += 0.5 * w * (power * l.curvature + (alpha > 0 ? slope * slope : 0));
    for (std::size_t i = 0; i < P; ++i) sum.d_parameters[i] += w * power * l.d_parameters[i];
  };
  double log_norm = 0;
  if (v < 1e-200) {  // the squares in the exponents would underflow
    add(m, 1, 0);
  } else {
    log_norm = std::log(sd) + 0.5 * std::log(2 * std::numbers::pi);
    ForEachNode(range.lo, range.hi, range.zones,
                [&](double u, double weight) { add(m + u, weight, -0.5 * (u / sd) * (u / sd)); });
  }
  const double log_z = top + std::log(mass) - log_norm;
  scale(1 / mass);
  if (alpha > 0) sum.value = log_z;
  return sum;
}

}  // namespace fathom

#endif  // FATHOM_LIKELIHOOD_TILTED_H_
