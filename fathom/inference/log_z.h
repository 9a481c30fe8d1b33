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

#include "fathom/inference/network.h"

namespace fathom {

inline constexpr Index kChunkRows = 64;
inline constexpr Index kTileRows = 16;

// Memory that is kept between calls, so that a step allocates nothing in the steady state. A matrix
// that changes its size allocates; so a shorter chunk or tile at the end has memory of its own.
struct LogZWorkspace {
  // Layers 1.. on a few rows.
  struct Tile {
    Moments x;
    std::vector<Moments> outputs, d_outputs;  // [layer]
    std::vector<Network::LayerTape> tapes;    // [layer]
  };
  // The first layer on more rows.
  struct Chunk {
    Moments x, hidden, d_hidden;  // hidden is the output of the first layer
    Matrix y;
    Network::LayerTape tape;
    Tile whole, last;
  };
  struct Scratch {
    Chunk whole, last;
  };
  std::vector<Scratch> workers;     // of the thread pool
  std::vector<Network::Sums> sums;  // of every n-th chunk
};

enum class Want { kValue, kGradient };

// The sums over rows `rows` of (x, y): log_z and, if wanted, what its gradient is made of. They
// live in the workspace.
const Network::Sums& SumLogZ(const Network& network, double alpha, const Moments& x,
                             const Matrix& y, std::span<const Index> rows, Want want,
                             const ThreadPool& pool, LogZWorkspace* workspace);

}  // namespace fathom

#endif  // FATHOM_INFERENCE_LOG_Z_H_
