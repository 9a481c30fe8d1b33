#include "fathom/likelihood/student_t.h"

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <numbers>
#include <vector>

#include "fathom/distribution/prediction.h"
#include "fathom/likelihood/tilted.h"

namespace fathom {

namespace {

// log Gamma((nu + 1)/2) - log Gamma(nu/2) and its slope.
struct GammaRatio {
  double value, slope;

  explicit GammaRatio(double nu) {
    if (nu > 1e5) {  // where the difference cancels; the next terms of the series are below 1e-16
      value = 0.5 * std::log(0.5 * nu) - 0.25 / nu;
      slope = 0.5 / nu + 0.25 / (nu * nu);
    } else {
      value = std::lgamma(0.5 * nu + 0.5) - std::lgamma(0.5 * nu);
      slope = 0.5 * (boost::math::digamma(0.5 * nu + 0.5) - boost::math::digamma(0.5 * nu));
    }
  }
};

// l(f), with the slopes for s2 and nu.
class LogDensity {
 public:
  LogDensity(double y, double s2, double nu) : y_(y), s2_(s2), nu_(nu), ratio_(nu) {
    constant_ = ratio_.value - 0.5 * std::log(std::numbers::pi * nu * s2);
  }

  LogDensityAt<2> operator()(double f) const {
    const double r = y_ - f;
    const double width2 = nu_ * s2_;
    const double q = r * r / width2;
    const double total = width2 + r * r;
    const double log_term = std::log1p(q);
    return {constant_ - 0.5 * (nu_ + 1) * log_term,
            (nu_ + 1) * r / total,
            (nu_ + 1) * (r * r - width2) / (total * total),
            {0.5 * ((nu_ + 1) * q / (1 + q) - 1) / s2_,
             ratio_.slope + 0.5 * ((nu_ + 1) / nu_ * q / (1 + q) - 1 / nu_ - log_term)}};
  }

 private:
  double y_, s2_, nu_, constant_;
  GammaRatio ratio_;
};

TiltedLogZ<2> LogZOf(double alpha, double y, double m, double v, double s2, double nu) {
  const LogDensity log_density(y, s2, nu);
  const double sd = std::sqrt(v);
  const double width = std::sqrt(nu * s2);
  const double residual = y - m;
  const double push = alpha * v * 0.5 * (nu + 1) / width;
  const double pushed = std::copysign(std::min(push, std::abs(residual)), residual);
  const double reach = kGaussianReach * sd;
  const double lo = std::min(pushed, 0.0) - reach;
  const double hi = std::max(pushed, 0.0) + reach;
  // l has singularities at a distance `width` from the real axis, and a curvature of
  // (nu + 1) / (width^2 + distance^2).
  const double fine = std::min(1.0, 2.5 / std::sqrt(std::max(alpha, 1e-300) * (nu + 1)));
  std::vector<Zone> zones{{lo, hi, 2.5 * sd},
                          {residual - width, residual + width, 1.5 * width * fine}};
  const double farthest = std::max(std::abs(residual - lo), std::abs(residual - hi));
  for (double distance = width; distance < farthest && distance < 1e300; distance *= 2) {
    const double step = distance * fine;
    zones.push_back({residual - 2 * distance, residual - distance, step});
    zones.push_back({residual + distance, residual + 2 * distance, step});
  }
  return IntegrateTilted<2>(alpha, m, v, {lo, hi, zones}, log_density);
}

// E[g(tau)], tau ~ Gamma(nu/2, nu/2): the trapezoidal rule in log tau, whose error is
// exp(-pi^2 / h) for functions of a Gaussian tail.
template <typename Function>
double MeanOverPrecision(double nu, const Function& g) {
  const double h = std::min(0.35, std::sqrt(2 / nu) / 1.25);
  double sum = 0;
  double total = 0;
  const auto march = [&](double u, double step) {
    for (;; u += step) {
      const double tau = std::exp(u);
      const double exponent = 0.5 * nu * (u - (tau - 1));
      if (exponent < -38) break;
      const double weight = std::exp(exponent);
      total += weight;
      sum += weight * g(tau);
    }
  };
  march(0, h);
  march(-h, -h);
  return sum / total;
}

}  // namespace

Vector StudentT::InitialParameters(Index outputs, double noise) const {
  Vector parameters(2 * outputs);
  parameters << Vector::Constant(outputs, 0.5 * noise), Vector::Constant(outputs, 2);
  return parameters;
}

double StudentT::LogZ(const LogZRow& row, const LogZSlopes& slopes) const {
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
    const double nu = 2 + parameters[outputs + d];
    const TiltedLogZ<2> z = LogZOf(alpha, y[d], m[d], v[d], parameters[d], nu);
    log_z += z.value;
    slopes.m[d] = z.d_m;
    slopes.v[d] = z.d_v;
    slopes.parameters[d] += z.d_parameters[0];
    slopes.parameters[outputs + d] += z.d_parameters[1];
  }
  return log_z;
}

void StudentT::Observe(const Vector& parameters, Moments* moments) const {
  const Index outputs = moments->cols();
  for (Index d = 0; d < outputs; ++d) {
    const double excess = parameters[outputs + d];
    moments->var.col(d).array() += parameters[d] * (1 + 2 / excess);
  }
}

double StudentT::Tail(const Vector& parameters, Index target, double y, const double* m,
                      const double* v, bool upper) const {
  const Index outputs = parameters.size() / 2;
  const double distance = upper ? m[target] - y : y - m[target];
  return MeanOverPrecision(2 + parameters[outputs + target], [&](double tau) {
    return NormalCdf(distance / std::sqrt(v[target] + parameters[target] / tau));
  });
}

}  // namespace fathom
