#include "fathom/distribution/normal_tail.h"

#include <cmath>
#include <numbers>

namespace fathom {

LogNormalCdf::LogNormalCdf(double x) {
  const double half_log_two_pi = 0.5 * std::log(2 * std::numbers::pi);
  // Phi(x) = phi(x) / -x (1 - r), r = 1/x^2 - 3/x^4 + 15/x^6 - ...: 16 terms leave 1e-17 at -12,
  // and spare x + h its cancellation.
  if (x < -12) {
    const double t = 1 / (x * x);
    double r = 0;
    for (int k = 16; k >= 1; --k) r = (2 * k - 1) * t * (1 - r);
    value = -0.5 * x * x - half_log_two_pi - std::log(-x) + std::log1p(-r);
    slope = -x / (1 - r);
    curvature = -slope * -x * r / (1 - r);
    return;
  }
  const double upper = 0.5 * std::erfc(x / std::numbers::sqrt2);
  const double lower = 0.5 * std::erfc(-x / std::numbers::sqrt2);
  value = x > 0 ? std::log1p(-upper) : std::log(lower);
  slope = std::exp(-0.5 * x * x - half_log_two_pi) / lower;
  curvature = -slope * (x + slope);
}

}  // namespace fathom
