// The step function: the smallest problem on which a GP with one length scale fails (it rings on
// both sides of the jump, or blurs it) and two layers do not.
#ifndef FATHOM_STUDY_STEP_H_
#define FATHOM_STUDY_STEP_H_

#include "fathom/base/random.h"
#include "fathom/base/types.h"
#include "study/sampled_function.h"

namespace fathom {

// -1 left of 0, 1 right of it, 0 at it.
double StepFunction(double x);

struct StepOptions {
  Index samples = 100;
  double noise_std = 0.05;
};

// X [n, 1] uniform on (-1, 1), y [n, 1] = StepFunction(x) + N(0, noise_std^2).
SampledFunction SampleStep(const StepOptions& options, RandomStream* stream);

// The noise-free step at `points` even places from -1 to 1, both ends included.
SampledFunction StepTestGrid(Index points);

}  // namespace fathom

#endif  // FATHOM_STUDY_STEP_H_
