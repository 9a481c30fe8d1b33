// How much each member counts in the mean of an ensemble.
#ifndef FATHOM_ENSEMBLE_BLEND_H_
#define FATHOM_ENSEMBLE_BLEND_H_

#include "fathom/base/types.h"

namespace fathom {

// [members]: the weights w, none negative and summing to 1, that minimise
//   sum_n c_n (sum_k w_k e_nk)^2 + ridge sum_k w_k^2                                      [blend]
// where e [rows, members] are errors of rows that the members have not seen and row n counts as c_n
// (no weights: as one). The ridge is the mean square of all errors: one row on which members are
// wrong independently of each other, which evens out weights that few rows cannot tell apart.
Vector BlendWeights(const Matrix& errors, const Vector& row_weights = {});

}  // namespace fathom

#endif  // FATHOM_ENSEMBLE_BLEND_H_
