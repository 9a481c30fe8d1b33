// What copies of training rows teach about rows that are seen again. The errors z of left-out rows,
// in units of their expected size, are those of a one-way layout over groups of rows with the same
// inputs:
//   z_gi = r_g + e_gi,   Var r = rho,   Var e = s                                     [replicates]
// A further row of a group of k rows with mean z has the error N(w z, s + rho s / (k rho + s)) with
// w = k rho / (k rho + s). Rows whose inputs are new are not affected.
#ifndef FATHOM_ENSEMBLE_REPLICATES_H_
#define FATHOM_ENSEMBLE_REPLICATES_H_

#include <memory>

#include "fathom/ensemble/scaled_table.h"
#include "fathom/fitted/seen_rows.h"

namespace fathom {

// Variances in units of the expected squared error, of which only the ratio matters.
struct ReplicateEffect {
  double between = 0;  // rho
  double within = 1;   // s
};

// From errors z [N], cut at 2, and the group of each row, counted from 0. Five pairs that differ as
// much as unrelated rows are added, so that few copies promise little.
ReplicateEffect FitReplicateEffect(const Vector& z, const std::vector<Index>& group_of_row);

// Null unless the table has ten copies (equal inputs and equal targets) and the inputs of a row
// tell more than a fifth of the squared errors. `mean` and `sd` [N, targets] are how each row is
// predicted without itself and its copies.
std::shared_ptr<const SeenRows> LearnFromReplicates(const ScaledTable& table, const Matrix& mean,
                                                    const Matrix& sd);

}  // namespace fathom

#endif  // FATHOM_ENSEMBLE_REPLICATES_H_
