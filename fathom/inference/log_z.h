// sum_n log Z_n over rows of a table and its gradient, by                            [sum-log-z]
// probabilistic backpropagation.
//
// Rows are independent until their gradients are summed, so the work goes chunk by chunk: the first
// layer (certain inputs, matrix products) on a whole chunk, the layers above on tiles so small that
// a tile's psi2 stays in the second-level cache and each exponential is computed once. The grouping
// into chunks and the order of the sums depend on the rows alone, so that the result has the same
// bits for any number of threads.
#ifndef FATHOM_INFERENCE_LOG_Z_H_
#define FATHOM_INFERENCE_LOG_Z_H_

#include <span>
#include <vector>

#include "fathom/inference/share_functions.h"
#include "fathom/inference/targets.h"

namespace fathom {

inline constexpr Index kChunkRows = 64;
inline constexpr Index kTileRows = 16;
inline constexpr Index kTilePaths = 256;  // certain inputs: matrix products, like the first layer

// Memory that is kept between calls, so that a step allocates nothing in the steady state. A matrix
// that changes its size allocates; so a shorter chunk or tile at the end has memory of its own.
struct LogZWorkspace {
  // The layers above the first on a few rows, or on their paths.
  struct Tile {
    Pass pass;
    Targets targets;
  };
  // The first layer on more rows.
  struct Chunk {
    Pass first;
    Tile whole, last;
  };
  struct Scratch {
    Chunk whole, last;
  };
  std::vector<Scratch> workers;  // of the thread pool
  std::vector<Sums> sums;        // of every n-th chunk: a slot
  TreeMemory tree;
  Moments d_inputs;  // [rows, D], if Want::kInputs
};

// kInputs is kGradient and, besides, the gradient with respect to the means and variances of the
// rows' raw inputs.
enum class Want { kValue, kGradient, kInputs };

// Some rows of a table.
struct TableRows {
  const Moments& x;
  const Matrix& y;
  const Vector& weights;          // beside them: how many rows each counts as; empty: one each
  std::span<const Index> rows;    // their numbers in the table, which random paths follow
  std::span<const Index> places;  // [rows]: where each stands in x, y and weights
};

// How the rows of a batch are dealt to slots, by the batch and the model alone. Slot s has the
// chunks s, s + slots, s + 2 slots, ...
struct SlotPlan {
  Index rows = 0;
  Index chunk_rows = 1;
  Index slots = 1;

  Index chunks() const { return (rows + chunk_rows - 1) / chunk_rows; }
  Index SlotOf(Index row) const { return row / chunk_rows % slots; }
};
SlotPlan PlanSlots(const Network& network, Index rows);

// Who computes the sums: the threads of this process, and the ranks with their shares of the
// functions.
struct Workers {
  const ThreadPool& pool;
  const FunctionShares& shares;
};

// The sums over the rows, by their weights: log_z and, if wanted, what its gradient is made of.
// They live in the workspace of rank 0, as do the gradients with respect to the inputs if there is
// no other rank; but where ranks share the functions, those of a function live with its rank. Each
// rank needs the rows of its own slots only; all ranks call it together.
const Sums& SumLogZ(const Network& network, const LogZOptions& options, const TableRows& table,
                    Want want, const Workers& workers, LogZWorkspace* workspace);

}  // namespace fathom

#endif  // FATHOM_INFERENCE_LOG_Z_H_
