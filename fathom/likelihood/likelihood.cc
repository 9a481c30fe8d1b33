#include "fathom/likelihood/likelihood.h"

#include "fathom/base/error.h"
#include "fathom/likelihood/gaussian.h"

namespace fathom {

std::shared_ptr<const Likelihood> MakeLikelihood(const std::string& name) {
  if (name == "gaussian") return std::make_shared<Gaussian>();
  ThrowError("likelihood '", name, "' is not known; the likelihoods are: gaussian");
}

}  // namespace fathom
