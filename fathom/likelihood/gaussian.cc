#include "fathom/likelihood/gaussian.h"

#include <cmath>
#include <numbers>

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"

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

double Gaussian::LogZFull(const Vector& parameters, double alpha, const double* y, const Vector& m,
                          const Matrix& Cov, Vector* d_m, Matrix* d_Cov,
                          double* d_parameters) const {
  // Without a power the expectation of log p sees the marginals alone.
  if (alpha == 0)
    return Likelihood::LogZFull(parameters, alpha, y, m, Cov, d_m, d_Cov, d_parameters);
  const double log_two_pi = std::log(2 * std::numbers::pi);
  Matrix L = Cov;
  L.diagonal() += parameters / alpha;
  if (!CholeskyInPlace(&L))
    throw NumericalError("the covariance of the outputs is not positive definite");
  double log_z = -0.5 * LogDeterminant(L);
  InvertLowerInPlace(&L);
  Matrix precision;
  TransposeTimesSelf(L, &precision);
  const Vector residual = Eigen::Map<const Vector>(y, m.size()) - m;
  *d_m = precision * residual;
  *d_Cov = 0.5 * (*d_m * d_m->transpose() - precision);
  log_z -= 0.5 * residual.dot(*d_m);
  for (Index d = 0; d < m.size(); ++d) {
    log_z += -0.5 * log_two_pi + 0.5 * (1 - alpha) * (log_two_pi + std::log(parameters[d])) -
             0.5 * std::log(alpha);
    d_parameters[d] += (*d_Cov)(d, d) / alpha + 0.5 * (1 - alpha) / parameters[d];
  }
  return log_z;
}

void Gaussian::Observe(const Vector& parameters, Moments* moments) const {
  moments->var.rowwise() += parameters.transpose();
}

}  // namespace fathom
