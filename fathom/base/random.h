// Counter-based random streams: the n-th draw of a stream is a pure function of (seed, stream, n),
// so that results do not depend on threads, chunk sizes or the standard library's distributions.
#ifndef FATHOM_BASE_RANDOM_H_
#define FATHOM_BASE_RANDOM_H_

#include <array>
#include <cstdint>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/base/types.h"

namespace fathom FATHOM_PUBLIC {

// One block of Philox4x32-10 (Salmon et al. 2011).
std::array<std::uint32_t, 4> Philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

class RandomStream {
 public:
  // Streams of one seed with different `stream` numbers are independent.
  explicit RandomStream(std::uint64_t seed, std::uint64_t stream = 0);

  std::uint64_t Bits();
  double Uniform();          // in (0, 1), never 0 or 1
  double Normal();           // standard normal, by Box and Muller
  Index Below(Index bound);  // uniform on 0..bound-1, without bias
  Matrix NormalMatrix(Index rows, Index cols);
  // A uniformly random order of 0..n-1 (Fisher and Yates).
  std::vector<Index> Permutation(Index n);
  void Permutation(Index n, std::vector<Index>* order);
  // `count` different ones of 0..n-1 in random order, or all if there are no more. Of up to 2^20
  // they are the first of a permutation; of more, its memory would be too much.
  std::vector<Index> Sample(Index n, Index count);

 private:
  std::array<std::uint32_t, 2> key_;
  std::uint64_t stream_;
  std::uint64_t block_ = 0;
  std::array<std::uint32_t, 4> buffer_{};
  int used_ = 4;
  double spare_normal_ = 0;
  bool has_spare_ = false;
};

}  // namespace fathom

#endif  // FATHOM_BASE_RANDOM_H_
