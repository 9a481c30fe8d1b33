#include "fathom/likelihood/gaussian.h"

#include <cmath>
#include <numbers>
#include <vector>

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
    if (std::isnan(y[d])) {  // nothing is known
      slopes.m[d] = slopes.v[d] = 0;
      continue;
    }
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

namespace {

// log Z of the outputs whose targets are known; the slopes of the others are 0.
double LogZOfKnown(const Gaussian& gaussian, const LogZFullRow& row, const LogZFullSlopes& slopes) {
  std::vector<Index> known;
  for (Index d = 0; d < row.m.size(); ++d) {
    if (!std::isnan(row.y[d])) known.push_back(d);
  }
  slopes.m.setZero(row.m.size());
  slopes.Cov.setZero(row.m.size(), row.m.size());
  if (known.empty()) return 0;
  const Vector parameters = row.parameters(known);
  const Vector y = Eigen::Map<const Vector>(row.y, row.m.size())(known);
  const Vector m = row.m(known);
  const Matrix Cov = row.Cov(known, known);
  Vector d_m(m.size());
  Matrix d_Cov(m.size(), m.size());
  Vector d_parameters = Vector::Zero(m.size());
  const double log_z = gaussian.LogZFull({parameters, row.alpha, y.data(), m, Cov},
                                         {d_m, d_Cov, d_parameters.data()});
  slopes.m(known) = d_m;
  slopes.Cov(known, known) = d_Cov;
  for (std::size_t i = 0; i < known.size(); ++i) slopes.parameters[known[i]] += d_parameters[i];
  return log_z;
}

}  // namespace

double Gaussian::LogZFull(const LogZFullRow& row, const LogZFullSlopes& slopes) const {
  if (Eigen::Map<const Vector>(row.y, row.m.size()).hasNaN())
    return LogZOfKnown(*this, row, slopes);
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
