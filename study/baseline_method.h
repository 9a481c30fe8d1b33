// Bayesian neural networks as methods of experiments.
#ifndef FATHOM_STUDY_BASELINE_METHOD_H_
#define FATHOM_STUDY_BASELINE_METHOD_H_

#include <memory>

#include "bnn/options.h"
#include "study/predictor.h"

namespace fathom {

std::unique_ptr<Method> BaselineMethod(const bnn::BaselineOptions& options);

}  // namespace fathom

#endif  // FATHOM_STUDY_BASELINE_METHOD_H_
