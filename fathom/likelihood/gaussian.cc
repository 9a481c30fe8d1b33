#include "fathom/likelihood/gaussian.h"

#include <cmath>
#include <numbers>

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"

namespace fathom {

double Gaussian::LogZ(const LogZRow& row, const LogZSlopes& slopes) const {
  const Vector& parameters = row.parameters;
  const double alpha = row.alpha;
  const Index outputs = row.outputs;
  const double* const y = row.y;
  const double* const m = row.m;
  const double* const v = row.v;
  const double log_two_pi = std::log(2 * std::numbers::pi);
  double log_z = 0;
  for (Index d = 0; d < outputs; ++d) {
    const double sigma2 = parameters[d];
    const double residual = y[d] - m[d];
    if (alpha == 0) {
      log_z += -0.5 * (log_two_pi + std::log(sigma2) + (residual * residual + v[d]) / sigma2);
      slopes.m[d] = residual / sigma2;
      slopes.v[d] = -0.5 / sigma2;
      slopes.parameters[d] += 0.5 * ((residual * residual + v[d]) / sigma2 - 1) / sigma2;
      continue;
    }
    const double total = v[d] + sigma2 / alpha;
    log_z += -0.5 * (log_two_pi + std::log(total) + residual * residual / total) +
             0.5 * (1 - alpha) * (log_two_pi + std::log(sigma2)) - 0.5 * std::log(alpha);
    const double d_total = 0.5 * (residual * residual / total - 1) / total;
    slopes.m[d] = residual / total;
    slopes.v[d] = d_total;
    slopes.parameters[d] += d_total / alpha + 0.5 * (1 - alpha) / sigma2;
  }
  return log_z;
}

double Gaussian::LogZFull(const LogZFullRow& row, const LogZFullSlopes& slopes) const {
  const Vector& parameters = row.parameters;
  const double alpha = row.alpha;
  const Vector& m = row.m;
  // Without a power the expectation of log p sees the marginals alone.
  if (alpha == 0) return Likelihood::LogZFull(row, slopes);
  const double log_two_pi = std::log(2 * std::numbers::pi);
  Matrix L = row.Cov;
  L.diagonal() += parameters / alpha;
  if (!CholeskyInPlace(&L))
    throw NumericalError("the covariance of the outputs is not positive definite");
  double log_z = -0.5 * LogDeterminant(L);
  InvertLowerInPlace(&L);
  Matrix precision;
  TransposeTimesSelf(L, &precision);
  const Vector residual = Eigen::Map<const Vector>(row.y, m.size()) - m;
  slopes.m = precision * residual;
  slopes.Cov = 0.5 * (slopes.m * slopes.m.transpose() - precision);
  log_z -= 0.5 * residual.dot(slopes.m);
  for (Index d = 0; d < m.size(); ++d) {
    log_z += -0.5 * log_two_pi + 0.5 * (1 - alpha) * (log_two_pi + std::log(parameters[d])) -
             0.5 * std::log(alpha);
    slopes.parameters[d] += slopes.Cov(d, d) / alpha + 0.5 * (1 - alpha) / parameters[d];
  }
  return log_z;
}

void Gaussian::Observe(const Vector& parameters, Moments* moments) const {
  moments->var.rowwise() += parameters.transpose();
}

}  // namespace fathom
