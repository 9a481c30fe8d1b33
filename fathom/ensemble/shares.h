// How the prediction of an ensemble is shared out among its members, by rows that none has seen.
#ifndef FATHOM_ENSEMBLE_SHARES_H_
#define FATHOM_ENSEMBLE_SHARES_H_

#include "fathom/base/types.h"

namespace fathom {

// [members]: the weights w, positive and summing to 1, that maximise
//   sum_n c_n log sum_k w_k exp(l_nk) + sum_k log w_k / members                    [stack-shares]
// where l [rows, members] are log densities of rows that no member has seen, and row n counts as
// c_n rows (no weights: as one). The second term is one row that all members predict equally well,
// and keeps every share from vanishing.
Vector StackShares(const Matrix& log_densities, const Vector& weights = {});

}  // namespace fathom

#endif  // FATHOM_ENSEMBLE_SHARES_H_
