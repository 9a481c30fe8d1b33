// How much each member counts in the mean of an ensemble.
#ifndef FATHOM_ENSEMBLE_BLEND_H_
#define FATHOM_ENSEMBLE_BLEND_H_

#include "fathom/base/types.h"

namespace fathom {

// sum_n c_n e_n^2, where row n counts as c_n (no weights: as one).
double SumOfSquares(const Vector& errors, const Vector& row_weights = {});

// [members]: the weights w, none negative and summing to 1, that minimise
//   sum_n c_n (sum_k w_k e_nk)^2 + ridge sum_k w_k^2                                      [blend]
// where e [rows, members] are errors of rows that the members have not seen and row n counts as c_n
// (no weights: as one). The ridge is the mean square of all errors: one row on which members are
// wrong independently of each other, which evens out weights that few rows cannot tell apart.
Vector BlendWeights(const Matrix& errors, const Vector& row_weights = {});

// By which part a newcomer's errors e lower the squared error of others, whose blend has the errors
// o, if it is blended with them as well as these rows can tell:
//   1 - min_t sum_n c_n ((1 - t) o_n + t e_n)^2 / sum_n c_n o_n^2,  0 <= t <= 1       [blend-gain]
double BlendGain(const Vector& others, const Vector& newcomer, const Vector& row_weights = {});

// Leaves out members that are not worth their time: one after the other, the one without which the
// squared error rises least, as long as it is at most 1 + `least` times what it was with all.
Vector PruneBlend(const Matrix& errors, const Vector& weights, double least,
                  const Vector& row_weights = {});

// Draws weights back to the first member, the simplest, unless the rows show clearly that the
// others help. With g the mean over rows of how much the blend lowers the squared error of the
// first member, and s the standard error of that mean,
//   w = t w + (1 - t) e_1,   t = (g / s - 1.5) / 1.5 between 0 and 1.               [blend-doubt]
// Weights that were chosen by the same rows lower their error by about one s even where there is
// nothing to be gained. The errors are those of so many targets, one below the other.
Vector DoubtBlend(const Matrix& errors, const Vector& weights, Index targets = 1,
                  const Vector& row_weights = {});

}  // namespace fathom

#endif  // FATHOM_ENSEMBLE_BLEND_H_
