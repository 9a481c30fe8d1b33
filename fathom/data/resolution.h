// The steps in which a target is given.
#ifndef FATHOM_DATA_RESOLUTION_H_
#define FATHOM_DATA_RESOLUTION_H_

#include "fathom/base/types.h"

namespace fathom {

// The gap between neighbouring values of a target that repeats them, as grades, counts and rounded
// numbers do: the median gap between the distinct values. 0 if fewer than a tenth of the rows share
// their value with another row.
double Resolution(const Eigen::Ref<const Vector>& target);

}  // namespace fathom

#endif  // FATHOM_DATA_RESOLUTION_H_
