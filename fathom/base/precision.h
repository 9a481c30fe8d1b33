// How precisely the engine computes.
#ifndef FATHOM_BASE_PRECISION_H_
#define FATHOM_BASE_PRECISION_H_

#include <array>

#include "fathom/base/enum_names.h"
#include "fathom/base/export.h"

namespace fathom FATHOM_PUBLIC {

// The precision of the exponentials of psi2, which are most of the work. kMixed computes them in
// single precision and sums in double, in half the time. A variance <aa' - S, psi2> is a difference
// of large terms where pseudo-points lie close to each other, so that its error is 1e-7 of those
// terms, not of the variance: with one hidden unit and 150 rows a predicted variance was off by
// 0.04 of the target's and the gradient was useless; with two or five units both held to 1e-3 and
// 1e-2. Layers of more than six inputs (kMostPairInputs in se_ard_loops.h), kernels other than
// se_ard and its sum with linear_ard, and the propagation of full covariances know only kDouble.
enum class Precision { kDouble, kMixed };
constexpr auto NamesOf(Precision) {
  return std::to_array<EnumName<Precision>>(
      {{Precision::kDouble, "double"}, {Precision::kMixed, "mixed"}});
}

}  // namespace fathom

#endif  // FATHOM_BASE_PRECISION_H_
