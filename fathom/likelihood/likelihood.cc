#include "fathom/likelihood/likelihood.h"

#include "fathom/base/error.h"
#include "fathom/likelihood/gaussian.h"
#include "fathom/likelihood/probit.h"
#include "fathom/likelihood/robust_max.h"
#include "fathom/likelihood/softmax.h"

namespace fathom {

void Likelihood::CheckTargets(Index /*outputs*/, const Matrix& /*y*/) const {}

double Likelihood::LogZFull(const Vector& parameters, double alpha, const double* y,
                            const Vector& m, const Matrix& Cov, Vector* d_m, Matrix* d_Cov,
                            double* d_parameters) const {
  const Index outputs = m.size();
  const Vector v = Cov.diagonal().cwiseMax(0);
  Vector d_v(outputs);
  d_m->resize(outputs);
  const double log_z = LogZ(parameters, alpha, outputs, y, m.data(), v.data(), d_m->data(),
                            d_v.data(), d_parameters);
  *d_Cov = d_v.asDiagonal();
  return log_z;
}

Matrix Likelihood::ClassProbabilities(const Vector& /*parameters*/, const Moments& /*f*/) const {
  ThrowError("the likelihood '", Name(), "' has no classes; probit, softmax and robust_max have");
}

std::shared_ptr<const Likelihood> MakeLikelihood(const std::string& name) {
  if (name == "gaussian") return std::make_shared<Gaussian>();
  if (name == "probit") return std::make_shared<Probit>();
  if (name == "softmax") return std::make_shared<Softmax>();
  if (name == "robust_max") return std::make_shared<RobustMax>();
  ThrowError("likelihood '", name,
             "' is not known; the likelihoods are: gaussian, probit, softmax, robust_max");
}

}  // namespace fathom
