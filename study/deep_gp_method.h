// Deep GPs, and plain ones, as a method of experiments.
#ifndef FATHOM_STUDY_DEEP_GP_METHOD_H_
#define FATHOM_STUDY_DEEP_GP_METHOD_H_

#include <memory>

#include "fathom/recipe/recipe.h"
#include "study/predictor.h"

namespace fathom {

std::unique_ptr<Method> DeepGpMethod(const Recipe& recipe);

}  // namespace fathom

#endif  // FATHOM_STUDY_DEEP_GP_METHOD_H_
