// What the edges of a table say about rows beyond them. Rows left out at random lie between others;
// a block of rows left out at one end of a column does not.
#ifndef FATHOM_ENSEMBLE_EDGES_H_
#define FATHOM_ENSEMBLE_EDGES_H_

#include <memory>
#include <vector>

#include "fathom/base/threads.h"
#include "fathom/ensemble/scaled_table.h"
#include "fathom/fitted/beyond.h"
#include "fathom/neighbour/neighbour_gp.h"

namespace fathom {

// Holds out blocks of a tenth and a fifth of the rows at both ends of the columns with the shortest
// lengthscales, and predicts them by a line and the neighbour GPs on it [targets], which stand for
// the ensemble: they cost next to nothing. Null where no column has ends to hold out.
std::shared_ptr<const Beyond> FitBeyond(const ScaledTable& table,
                                        const std::vector<NeighbourGp>& on_line,
                                        const ThreadPool& pool);

}  // namespace fathom

#endif  // FATHOM_ENSEMBLE_EDGES_H_
