// Which rows each step of an optimiser sees.
#ifndef FATHOM_OPTIMIZE_BATCHES_H_
#define FATHOM_OPTIMIZE_BATCHES_H_

#include <array>
#include <cstdint>
#include <vector>

#include "fathom/base/types.h"

namespace fathom {

// A table of more rows than this is shuffled window by window, because a permutation of all of them
// would take memory, and rows from everywhere would have to be looked for all over a disk: its
// pieces come in random order, and the rows of 64 pieces at a time are shuffled among themselves.
inline constexpr Index kMostPermutedRows = Index{1} << 20;
inline constexpr Index kPieceRows = 4096;
inline constexpr Index kWindowRows = 64 * kPieceRows;

// Batches as a function of the seed and the number of the step alone: a continued run draws what an
// uninterrupted one would have drawn. Each row comes once in an epoch, but for less than a batch at
// its end.
class Batches {
 public:
  Batches(Index rows, Index batch_size, std::uint64_t seed);

  // Holds until batches of two other steps have been asked for.
  const std::vector<Index>& At(Index step);

 private:
  struct Drawn {
    Index step = -1;
    std::vector<Index> rows;
  };

  void Draw(Index epoch, Index first, std::vector<Index>* rows);
  void Permute(Index epoch);
  void LoadWindow(Index epoch, Index window);

  Index rows_, size_;
  std::uint64_t seed_;
  std::array<Drawn, 2> drawn_;
  int oldest_ = 0;
  Index epoch_ = -1;
  std::vector<Index> order_;  // of the rows, or of the pieces
  Index window_ = -1;
  std::vector<Index> window_rows_;
};

// The steps in which a table of so many rows is seen once: at least 1.
Index StepsPerEpoch(Index rows, Index batch_size);

}  // namespace fathom

#endif  // FATHOM_OPTIMIZE_BATCHES_H_
