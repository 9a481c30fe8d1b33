// Errors with two humps: a target that lies on one of two parallel surfaces, as where a switch that
// no column tells was on or off. One centre cannot show that, however well its width is known.
#ifndef FATHOM_ENSEMBLE_HUMPS_H_
#define FATHOM_ENSEMBLE_HUMPS_H_

#include "fathom/base/types.h"

namespace fathom {

struct Humps {
  double gap = 0;      // from the middle of the lower one to that of the upper one; 0: one hump
  double between = 0;  // what lies above it belongs to the upper one
};

// Parts errors [N] in two, so that they deviate least from the means of their parts, and returns
// these if they lie clearly apart. Row n counts as weights[n] (no weights: as one).
Humps FindHumps(const Vector& errors, const Vector& weights = {});

}  // namespace fathom

#endif  // FATHOM_ENSEMBLE_HUMPS_H_
