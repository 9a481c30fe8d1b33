// Adam (Kingma and Ba 2015) as a value: state in, state out, so that a run can be saved and
// continued to the same bits.
#ifndef FATHOM_OPTIMIZE_ADAM_H_
#define FATHOM_OPTIMIZE_ADAM_H_

#include "fathom/base/types.h"
#include "fathom/optimize/options.h"

namespace fathom {

struct AdamState {
  Vector first, second;  // moving averages of the gradient and of its square
  Index updates = 0;

  explicit AdamState(Index size = 0) : first(Vector::Zero(size)), second(Vector::Zero(size)) {}
};

// One step of size `rate` against the gradient.                                             [adam]
void AdamStep(const AdamOptions& options, double rate, const Vector& gradient, AdamState* state,
              Vector* parameters);

}  // namespace fathom

#endif  // FATHOM_OPTIMIZE_ADAM_H_
