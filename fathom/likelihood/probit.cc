#include "fathom/likelihood/probit.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "fathom/base/error.h"
#include "fathom/base/quadrature.h"
#include "fathom/distribution/normal_tail.h"
#include "fathom/distribution/prediction.h"

namespace fathom {

namespace {

struct Slopes {
  double value, d_m, d_v;
};

Slopes ClosedForm(double m, double v) {
  const double scale = 1 / std::sqrt(1 + v);
  const LogNormalCdf log_cdf(m * scale);
  return {log_cdf.value, log_cdf.slope * scale, -0.5 * log_cdf.slope * m * scale * scale * scale};
}

// Returns alpha log Phi(f) and its slopes at a certain f = m; alpha = 0 stands for log Phi itself.
Slopes WithoutVariance(double alpha, double m) {
  const LogNormalCdf log_cdf(m);
  if (alpha == 0) return {log_cdf.value, log_cdf.slope, 0.5 * log_cdf.curvature};
  const double slope = alpha * log_cdf.slope;
  return {alpha * log_cdf.value, slope, 0.5 * (slope * slope + alpha * log_cdf.curvature)};
}

// The mode of alpha log Phi(f) - (f - m)^2 / 2v as its distance from m. Its equation is
// d = alpha v h(m + d); the right side falls with d, so that the root is bracketed and unique.
double ModeShift(double alpha, double m, double v) {
  double low = 0;
  double high = alpha * v * LogNormalCdf(m).slope;
  double d = high / (1 + alpha * v);
  for (int i = 0; i < 200 && high - low > 1e-10 * high; ++i) {
    const LogNormalCdf log_cdf(m + d);
    const double excess = d - alpha * v * log_cdf.slope;
    (excess > 0 ? high : low) = d;
    const double step = excess / (1 - alpha * v * log_cdf.curvature);
    if (std::abs(step) <= 1e-12 * d) break;
    d -= step;
    if (!(d > low && d < high)) d = 0.5 * (low + high);
  }
  return d;
}

// Panels for functions of log Phi(f), f = centre + u, u >= lo: it is analytic within 2.8 of the
// real axis, below -8 in a strip that widens with |f|, and nearly 0 above 8.
void AddZones(double alpha, double centre, double lo, std::vector<Zone>* zones) {
  const double widest = alpha > 0 ? 3 / std::sqrt(alpha) : INFINITY;
  zones->push_back({-8 - centre, 8 - centre, std::min(2.5, widest)});
  for (double f = 8; - f - centre > lo; f *= 2)
    zones->push_back({-2 * f - centre, -f - centre, std::min(0.5 * f, widest)});
}

Slopes ByQuadrature(double alpha, double m, double v) {
  const double sd = std::sqrt(v);
  const double d = alpha > 0 ? ModeShift(alpha, m, v) : 0;
  const double centre = m + d;
  const LogNormalCdf at_mode(centre);
  const auto exponent = [&](double u, const LogNormalCdf& log_cdf) {
    return -(0.5 * u + d) * u / v + alpha * (log_cdf.value - at_mode.value);
  };
  // The curvature is at least 1/v, so 8.7 sd hold all but e^-37 of the integral; less does where
  // Phi^alpha is narrower than the Gaussian, or the Gaussian's tail falls like exp(-u d / v).
  const double reach = 8.7 * sd;
  const auto end = [&](double u) {
    while (std::abs(u) < reach && exponent(u, LogNormalCdf(centre + u)) > -38) u *= 1.5;
    return std::clamp(u, -reach, reach);
  };
  const double width = 1 / std::sqrt(1 / v - alpha * at_mode.curvature);
  const double lo = end(-width);
  const double hi = end(width);
  std::vector<Zone> zones{{-reach, reach, 0.5 * reach}};
  if (d > 0) zones.push_back({0, reach, 6 * v / d});
  AddZones(alpha, centre, lo, &zones);
  double sum = 0;
  double first = 0;
  double second = 0;
  ForEachNode(lo, hi, zones, [&](double u, double weight) {
    const LogNormalCdf log_cdf(centre + u);
    const double w = weight * std::exp(exponent(u, log_cdf));
    if (alpha == 0) {
      sum += w * log_cdf.value;
      first += w * log_cdf.slope;
      second += w * log_cdf.curvature;
      return;
    }
    const double slope = alpha * log_cdf.slope;
    sum += w;
    first += w * slope;
    second += w * (slope * slope + alpha * log_cdf.curvature);
  });
  const double norm = sd * std::sqrt(2 * std::numbers::pi);
  if (alpha == 0) return {sum / norm, first / norm, 0.5 * second / norm};
  return {alpha * at_mode.value - 0.5 * d * d / v + std::log(sum / norm), first / sum,
          0.5 * second / sum};
}

Slopes LogZOf(double alpha, double m, double v) {
  if (alpha == 1) return ClosedForm(m, v);
  if (std::isnan(m + v)) return {NAN, NAN, NAN};  // lest it vanish in an empty range
  // Below, the squares in the exponents would underflow.
  if (v < 1e-200) return WithoutVariance(alpha, m);
  return ByQuadrature(alpha, m, v);
}

}  // namespace

std::string Probit::TargetRule(Index /*outputs*/, double y) const {
  return y == 1 || y == -1 ? "" : "+1 or -1";
}

double Probit::LogZ(const LogZRow& row, const LogZSlopes& slopes) const {
  const double alpha = row.alpha;
  const Index outputs = row.outputs;
  const double* const y = row.y;
  const double* const m = row.m;
  const double* const v = row.v;
  double log_z = 0;
  for (Index d = 0; d < outputs; ++d) {
    const Slopes s = LogZOf(alpha, y[d] * m[d], v[d]);
    log_z += s.value;
    slopes.m[d] = y[d] * s.d_m;
    slopes.v[d] = s.d_v;
  }
  return log_z;
}

void Probit::Observe(const Vector& /*parameters*/, Moments* moments) const {
  for (Index n = 0; n < moments->rows(); ++n) {
    for (Index d = 0; d < moments->cols(); ++d) {
      const double z = moments->mean(n, d) / std::sqrt(1 + moments->var(n, d));
      moments->mean(n, d) = std::erf(z / std::numbers::sqrt2);
      moments->var(n, d) = 4 * NormalCdf(z) * NormalCdf(-z);
    }
  }
}

Matrix Probit::ClassProbabilities(const Vector& /*parameters*/, const Moments& f) const {
  Require(f.cols() == 1, "outputs of a probit classifier", "1", f.cols());
  Matrix probability(f.rows(), 2);
  for (Index n = 0; n < f.rows(); ++n) {
    const double z = f.mean(n, 0) / std::sqrt(1 + f.var(n, 0));
    probability(n, 0) = NormalCdf(-z);
    probability(n, 1) = NormalCdf(z);
  }
  return probability;
}

}  // namespace fathom
