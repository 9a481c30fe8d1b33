#include "fathom/likelihood/heteroscedastic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "fathom/distribution/prediction.h"
#include "fathom/likelihood/tilted.h"

namespace fathom {

namespace {

const double kLogOfTwoPi = std::log(2 * std::numbers::pi);

// A as a function of log n, with the slopes for m_f and v_f.
class GivenLogNoise {
 public:
  GivenLogNoise(double alpha, double residual, double v) : alpha_(alpha), r_(residual), v_(v) {}

  double Total(double log_noise) const { return v_ + std::exp(log_noise) / alpha_; }

  LogDensityAt<2> operator()(double log_noise) const {
    const double T = Total(log_noise);
    const double share = 1 - v_ / T;  // of the noise in T
    const double q = r_ * r_ / T;
    return {-0.5 * (kLogOfTwoPi + std::log(T) + q) +
                0.5 * (1 - alpha_) * (kLogOfTwoPi + log_noise) - 0.5 * std::log(alpha_),
            0.5 * (1 - alpha_) + 0.5 * (q - 1) * share,
            0.5 * share * (q * (1 - 2 * share) - (1 - share)),
            {r_ / T, 0.5 * (q - 1) / T}};
  }

 private:
  double alpha_, r_, v_;
};

// Where N(log n; centre, v_g) exp(A) lives, in distances from the centre. A falls with a slope of
// at least -alpha/2, and it rises only up to n = 2 (r^2 + v), with a slope of at most
// (1 - alpha)/2 + r^2/2 max(share / T).
struct LogNoiseSupport {
  double lo, hi;
  std::vector<Zone> zones;

  LogNoiseSupport(const GivenLogNoise& A, double alpha, double r2, double v, double centre,
                  double v_g) {
    const double sd = std::sqrt(v_g);
    const double steepest =
        0.5 * (1 - alpha) + 0.5 * r2 * std::min(0.25 / v, alpha * std::exp(-centre));
    const double last_rise = std::log(2 * (r2 + v)) - centre;
    const double pushed = std::max(0.0, std::min(steepest * v_g, last_rise));
    lo = -0.5 * alpha * v_g - kGaussianReach * sd;
    hi = pushed + kGaussianReach * sd;
    Cut(A, centre, sd);
    zones.push_back({lo, hi, std::min(2.5 * sd, 2.0)});
    // Where r^2 is far above T, exp(-r^2 / 2T) is narrower.
    const double stretch = std::max(1.0, (hi - lo) / 100);
    for (double u = lo; u < hi; u += stretch) {
      const double steep = 0.5 * r2 / A.Total(centre + u);
      zones.push_back({u, u + stretch, 2.5 / std::sqrt(1 / v_g + steep)});
    }
  }

 private:
  // Takes away the ends that lie e^-60 below the highest of a few points.
  void Cut(const GivenLogNoise& A, double centre, double sd) {
    constexpr int kPoints = 64;
    std::array<double, kPoints + 1> exponent{};
    const double step = (hi - lo) / kPoints;
    for (int i = 0; i <= kPoints; ++i) {
      const double u = lo + i * step;
      exponent[i] = A(centre + u).value - 0.5 * (u / sd) * (u / sd);
    }
    const double least = *std::max_element(exponent.begin(), exponent.end()) - 60;
    int first = 0;
    int last = kPoints;
    while (first < last && exponent[first + 1] < least) ++first;
    while (last > first && exponent[last - 1] < least) --last;
    hi = lo + last * step;
    lo += first * step;
  }
};

// log Z of one target with the slopes {m_f, v_f} as parameters; d_m and d_v are those of g.
TiltedLogZ<2> LogZOf(double alpha, double residual, double v, double centre, double v_g) {
  if (alpha == 0) {
    const double precision = std::exp(0.5 * v_g - centre);
    const double square = residual * residual + v;
    return {-0.5 * (kLogOfTwoPi + centre + square * precision),
            0.5 * (square * precision - 1),
            -0.25 * square * precision,
            {residual * precision, -0.5 * precision}};
  }
  const GivenLogNoise A(alpha, residual, v);
  if (std::isnan(residual + v + centre + v_g)) return {NAN, NAN, NAN, {NAN, NAN}};
  if (v_g < 1e-200) return IntegrateTilted<2>(1, centre, v_g, {}, A);
  const LogNoiseSupport support(A, alpha, residual * residual, v, centre, v_g);
  return IntegrateTilted<2>(1, centre, v_g, {support.lo, support.hi, support.zones}, A);
}

}  // namespace

double Heteroscedastic::LogZ(const LogZRow& row, const LogZSlopes& slopes) const {
  const Vector& parameters = row.parameters;
  const double alpha = row.alpha;
  const Index outputs = row.outputs;
  const double* const y = row.y;
  const double* const m = row.m;
  const double* const v = row.v;
  const Index targets = outputs / 2;
  double log_z = 0;
  for (Index t = 0; t < targets; ++t) {
    const Index g = targets + t;
    if (std::isnan(y[t])) {  // nothing is known
      slopes.m[t] = slopes.v[t] = slopes.m[g] = slopes.v[g] = 0;
      continue;
    }
    const TiltedLogZ<2> z = LogZOf(alpha, y[t] - m[t], v[t], m[g] + std::log(parameters[t]), v[g]);
    log_z += z.value;
    slopes.m[t] = z.d_parameters[0];
    slopes.v[t] = z.d_parameters[1];
    slopes.m[g] = z.d_m;
    slopes.v[g] = z.d_v;
    slopes.parameters[t] += z.d_m / parameters[t];
  }
  return log_z;
}

void Heteroscedastic::Observe(const Vector& parameters, Moments* moments) const {
  const Index targets = moments->cols() / 2;
  const Matrix noise = (moments->mean + 0.5 * moments->var).rightCols(targets).array().exp();
  moments->mean = moments->mean.leftCols(targets).eval();
  moments->var = (moments->var.leftCols(targets) + noise * parameters.asDiagonal()).eval();
}

double Heteroscedastic::Tail(const Vector& parameters, Index target, double y, const double* m,
                             const double* v, bool upper) const {
  const Index g = parameters.size() + target;
  const double sd = std::sqrt(v[g]);
  const double level = parameters[target] * std::exp(m[g]);
  const double distance = upper ? m[target] - y : y - m[target];
  // The trapezoidal rule: its error is exp(-2 pi^2 1.5^2) from the Gaussian, exp(-pi^2 / h) from
  // the tail.
  const double h = std::min(0.35, sd / 1.5);
  const auto count = sd > 0 ? static_cast<int>(std::ceil(kGaussianReach * sd / h)) : 0;
  double sum = 0;
  double total = 0;
  for (int i = -count; i <= count; ++i) {
    const double weight = sd > 0 ? std::exp(-0.5 * (i * h / sd) * (i * h / sd)) : 1;
    total += weight;
    sum += weight * NormalCdf(distance / std::sqrt(v[target] + level * std::exp(i * h)));
  }
  return std::min(sum / total, 1.0);
}

}  // namespace fathom
