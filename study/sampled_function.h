// A function seen at a few points: what every demo trains on.
#ifndef FATHOM_STUDY_SAMPLED_FUNCTION_H_
#define FATHOM_STUDY_SAMPLED_FUNCTION_H_

#include "fathom/base/types.h"

namespace fathom {

struct SampledFunction {
  Matrix X;  // [n, D]
  Matrix y;  // [n, 1], with noise
};

}  // namespace fathom

#endif  // FATHOM_STUDY_SAMPLED_FUNCTION_H_
