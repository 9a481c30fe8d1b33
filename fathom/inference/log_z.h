// sum_n w_n log Z_n over rows of a table and its gradient, by                            [sum-log-z]
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

#include "fathom/inference/network.h"

namespace fathom {

inline constexpr Index kChunkRows = 64;
inline constexpr Index kTileRows = 16;

// Memory that is kept between calls, so that a step allocates nothing in the steady state.
struct LogZWorkspace {
  struct Chunk {
    Moments x, hidden, d_hidden;  // of the chunk; hidden is the output of the first layer
    Matrix y;
    Vector weights, d_likelihood;  // of the rows; of the likelihood's parameters, by one row
    Moments tile_x;                // of a tile of it
    std::vector<Moments> outputs, d_outputs;  // [layer], of a tile
    std::vector<Network::LayerTape> tapes;    // [layer]: the first of the chunk, the rest of a tile
    Network::Sums sums;
  };
  std::vector<Chunk> slots;
};

// The sums over rows `rows` of (x, y), log_z among them. A row counts weights[row] times; weights
// may be empty, then once. They live in the workspace.
const Network::Sums& SumLogZ(const Network& network, double alpha, const Moments& x,
                             const Matrix& y, const Vector& weights, std::span<const Index> rows,
                             bool uncertain_inputs, const ThreadPool& pool,
                             LogZWorkspace* workspace);

}  // namespace fathom

#endif  // FATHOM_INFERENCE_LOG_Z_H_
