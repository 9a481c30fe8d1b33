// Deep GPs, and plain ones, as a method of experiments.
#ifndef FATHOM_EXPERIMENT_DEEP_GP_METHOD_H_
#define FATHOM_EXPERIMENT_DEEP_GP_METHOD_H_

#include <memory>

#include "fathom/experiment/predictor.h"
#include "fathom/fit/recipe.h"

namespace fathom {

std::unique_ptr<Method> DeepGpMethod(const Recipe& recipe);

}  // namespace fathom

#endif  // FATHOM_EXPERIMENT_DEEP_GP_METHOD_H_
