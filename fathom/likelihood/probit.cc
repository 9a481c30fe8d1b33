#include "fathom/likelihood/probit.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "fathom/base/error.h"
#include "fathom/base/quadrature.h"
#include "fathom/distribution/normal_panel.h"
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

// About the mode of alpha log Phi(f) - (f - m)^2 / 2v, as its distance from m: the integral may
// be taken around any point, and this one only has to be high. The mode's equation is
// d = alpha v h(m + d); the right side falls with d, so that the root is bracketed and unique.
double ModeShift(double alpha, double m, double v) {
  double low = 0;
  double high = alpha * v * LogNormalCdf(m).slope;
  double d = high / (1 + alpha * v);
  for (int i = 0; i < 200; ++i) {
    const LogNormalCdf log_cdf(m + d);
    const double excess = d - alpha * v * log_cdf.slope;
    (excess > 0 ? high : low) = d;
    const double bend = 1 - alpha * v * log_cdf.curvature;
    const double step = excess / bend;
    d -= step;
    if (!(d > low && d < high)) d = 0.5 * (low + high);
    // A hundredth of the width of the peak is near enough.
    if (std::abs(step) <= 0.01 * std::sqrt(v / bend) || high - low <= 1e-10 * high) break;
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

// exp(-(f - m)^2 / 2v) Phi(f)^alpha, f = m + shift + u, relative to its value at u = 0.
struct Peak {
  Peak(double alpha, double m, double v)
      : alpha(alpha),
        v(v),
        shift(alpha > 0 ? ModeShift(alpha, m, v) : 0),
        centre(m + shift),
        top(centre) {}

  double alpha, v, shift, centre;
  LogNormalCdf top;

  PanelValues Exponent(const PanelValues& u, const PanelValues& log_cdf) const {
    return -(0.5 * u + shift) * u / v + alpha * (log_cdf - top.value);
  }
  // Where it has fallen below e^-38, on both sides, but not beyond `reach`.
  std::pair<double, double> Ends(double reach) const {
    constexpr int kSteps = kPanelNodes / 2;
    PanelValues u;
    u[0] = 2 / std::sqrt(1 / v - alpha * top.curvature);
    for (int i = 1; i < kSteps; ++i) u[i] = 1.5 * u[i - 1];
    for (int i = 0; i < kSteps; ++i) u[kSteps + i] = -u[i];
    const PanelValues exponent = Exponent(u, LogNormalCdfPanel(centre + u).value);
    const auto first_low = [&](int begin) {
      for (int i = begin; i < begin + kSteps; ++i) {
        if (exponent[i] <= -38) return std::clamp(u[i], -reach, reach);
      }
      return std::copysign(reach, u[begin]);
    };
    return {first_low(kSteps), first_low(0)};
  }
};

Slopes ByQuadrature(double alpha, double m, double v) {
  const double sd = std::sqrt(v);
  const Peak peak(alpha, m, v);
  // The curvature is at least 1/v, so 8.7 sd hold all but e^-37 of the integral; less does where
  // Phi^alpha is narrower than the Gaussian, or the Gaussian's tail falls like exp(-u d / v).
  const double reach = 8.7 * sd;
  const auto [lo, hi] = peak.Ends(reach);
  std::vector<Zone> zones{{-reach, reach, 0.5 * reach}};
  if (peak.shift > 0) zones.push_back({0, reach, 6 * v / peak.shift});
  AddZones(alpha, peak.centre, lo, &zones);
  double sum = 0;
  double first = 0;
  double second = 0;
  ForEachPanel(lo, hi, zones, [&](const PanelValues& u, const PanelValues& weights) {
    const LogNormalCdfPanel log_cdf(peak.centre + u);
    const PanelValues w = weights * ExpPanel(peak.Exponent(u, log_cdf.value));
    if (alpha == 0) {
      sum += (w * log_cdf.value).sum();
      first += (w * log_cdf.slope).sum();
      second += (w * log_cdf.curvature).sum();
    } else {
      const PanelValues slope = alpha * log_cdf.slope;
      sum += w.sum();
      first += (w * slope).sum();
      second += (w * (slope.square() + alpha * log_cdf.curvature)).sum();
    }
  });
  const double norm = sd * std::sqrt(2 * std::numbers::pi);
  if (alpha == 0) return {sum / norm, first / norm, 0.5 * second / norm};
  return {alpha * peak.top.value - 0.5 * peak.shift * peak.shift / v + std::log(sum / norm),
          first / sum, 0.5 * second / sum};
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
