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
#include "fathom/inference/paths.h"

namespace fathom {

inline constexpr Index kChunkRows = 64;
inline constexpr Index kTileRows = 16;
inline constexpr Index kTilePaths = 256;  // certain inputs: matrix products, like the first layer

// Memory that is kept between calls, so that a step allocates nothing in the steady state. A matrix
// that changes its size allocates; so a shorter chunk or tile at the end has memory of its own.
struct LogZWorkspace {
  // Layers 1.. on a few rows, or on their paths.
  struct Tile {
    Moments x;
    std::vector<Moments> outputs, d_outputs;  // [layer]
    std::vector<Network::LayerTape> tapes;    // [layer]
    Vector log_z;                             // of one row, or of each of its paths
    Matrix d_likelihood;                      // beside it, [., parameters]
    // Where hidden units are sampled:
    Moments path_x;
    Matrix eps;
    std::vector<Moments> draws, d_draws;  // [layer]: its units on the paths
    Vector d_log_weights;
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
  Vector log_weights;               // of the paths
  std::vector<Network::Sums> sums;  // of every n-th chunk
};

enum class Want { kValue, kGradient };

// What a row's log Z is taken of: the power alpha of EP and, where hidden units are sampled, the
// power under which the paths are mixed (MixPaths) and where the paths come from.
struct LogZOptions {
  double alpha = 1;
  double outer = 1;
  PathSource paths = {};
};

// The sums over rows `rows` of (x, y), by their weights (empty: one each): log_z and, if wanted,
// what its gradient is made of. They live in the workspace.
const Network::Sums& SumLogZ(const Network& network, const LogZOptions& options, const Moments& x,
                             const Matrix& y, const Vector& weights, std::span<const Index> rows,
                             Want want, const ThreadPool& pool, LogZWorkspace* workspace);

}  // namespace fathom

#endif  // FATHOM_INFERENCE_LOG_Z_H_
