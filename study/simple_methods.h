// What everybody would try first: a method that loses to these is of no use.
#ifndef FATHOM_STUDY_SIMPLE_METHODS_H_
#define FATHOM_STUDY_SIMPLE_METHODS_H_

#include <memory>

#include "study/predictor.h"

namespace fathom {

// Both predict a Gaussian or, where the target is given in steps, the probability that it has
// around each: a density could be narrower than the data's own grid.

// Least squares with Gaussian errors; see fathom/fit/linear_baseline.h.
std::unique_ptr<Method> LineMethod();
// One Gaussian with the mean and the standard deviation of the training rows.
std::unique_ptr<Method> ConstantMethod();

}  // namespace fathom

#endif  // FATHOM_STUDY_SIMPLE_METHODS_H_
