// Counts of the work that the mathematics asks for, in double, using symmetry and triangles where
// they save something. Terms of O(M) beside O(M^2) are counted roughly; nothing is counted for
// copying, clearing or adding up.
#ifndef FATHOM_BENCH_WORK_H_
#define FATHOM_BENCH_WORK_H_

#include "bench/roofline.h"
#include "fathom/model/deep_gp.h"

namespace fathom::bench {

// One row through one latent function with certain inputs: the first layer.
Work CertainRow(Index inputs, Index inducing, bool backward);
// One row through one latent function with uncertain inputs: psi1 and psi2.
Work UncertainRow(Index inputs, Index inducing, bool backward);
// The same where only some of many inputs are uncertain, as where cells are missing.
Work FactoredRow(Index inputs, Index uncertain, Index inducing, bool backward);
// Prepare, and PrepareBackward if `backward`, of one sparse GP in the whitened form.
Work PrepareWork(Index inputs, Index inducing, bool backward);

// The sums over the functions of a model whose raw inputs are certain.
Work RowWork(const DeepGp& model, bool backward);
Work PrepareWork(const DeepGp& model, bool backward);
// One step of training on `batch` rows: all of the above, and the table's rows from memory.
Work StepWork(const DeepGp& model, Index batch);

// Pairs i <= j of pseudo-points, over the functions of the layers above the first: what the time
// per (row, pair) divides by.
double PairsOfUpperLayers(const DeepGp& model);

}  // namespace fathom::bench

#endif  // FATHOM_BENCH_WORK_H_
