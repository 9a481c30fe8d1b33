#include "fathom/likelihood/gaussian.h"

#include <cmath>
#include <numbers>

namespace fathom {

double Gaussian::LogZ(const Vector& parameters, double alpha, Index outputs, const double* y,
                      const double* m, const double* v, double* d_m, double* d_v,
                      double* d_parameters) const {
  const double log_two_pi = std::log(2 * std::numbers::pi);
  double log_z = 0;
  for (Index d = 0; d < outputs; ++d) {
    const double sigma2 = parameters[d];
    const double residual = y[d] - m[d];
    if (alpha == 0) {
      log_z += -0.5 * (log_two_pi + std::log(sigma2) + (residual * residual + v[d]) / sigma2);
      d_m[d] = residual / sigma2;
      d_v[d] = -0.5 / sigma2;
      d_parameters[d] += 0.5 * ((residual * residual + v[d]) / sigma2 - 1) / sigma2;
      continue;
    }
    const double total = v[d] + sigma2 / alpha;
    log_z += -0.5 * (log_two_pi + std::log(total) + residual * residual / total) +
             0.5 * (1 - alpha) * (log_two_pi + std::log(sigma2)) - 0.5 * std::log(alpha);
    const double d_total = 0.5 * (residual * residual / total - 1) / total;
    d_m[d] = residual / total;
    d_v[d] = d_total;
    d_parameters[d] += d_total / alpha + 0.5 * (1 - alpha) / sigma2;
  }
  return log_z;
}

void Gaussian::Observe(const Vector& parameters, Moments* moments) const {
  moments->var.rowwise() += parameters.transpose();
}

}  // namespace fathom
