#include "fathom/likelihood/likelihood.h"

#include "fathom/base/error.h"
#include "fathom/likelihood/gaussian.h"
#include "fathom/likelihood/probit.h"
#include "fathom/likelihood/robust_max.h"
#include "fathom/likelihood/softmax.h"

namespace fathom {

void Likelihood::CheckTargets(Index /*outputs*/, const Matrix& /*y*/) const {}

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
