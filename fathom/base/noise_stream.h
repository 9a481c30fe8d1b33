// Random numbers by the thousand, for noise that is drawn anew in every step of a training: the
// blocks of Philox4x32-10 of RandomStream, computed as vectors, and what is made of them in single
// precision. A normal costs a tenth of RandomStream's.
#ifndef FATHOM_BASE_NOISE_STREAM_H_
#define FATHOM_BASE_NOISE_STREAM_H_

#include <cstdint>
#include <span>

#include "fathom/base/types.h"

namespace fathom {

// What comes next depends only on (seed, stream) and on how many numbers were asked for before, in
// which calls. Give it a stream number that no RandomStream of the same seed has.
class NoiseStream {
 public:
  explicit NoiseStream(std::uint64_t seed, std::uint64_t stream = 0)
      : seed_(seed), stream_(stream) {}

  // Standard normals with 24 significant bits, by Box and Muller; none is beyond 6.7.
  void Normals(std::span<double> out);
  // 0 with probability `rate`, to 32 bits, else `kept`.
  void Masks(double rate, double kept, std::span<double> out);

  // Where the stream stands; another of the same seed and number goes on from there.
  std::uint64_t place() const { return block_; }
  void GoTo(std::uint64_t place) { block_ = place; }

 private:
  std::uint64_t seed_, stream_;
  std::uint64_t block_ = 0;
};

// Words of a chunk, which is 16 consecutive blocks: those numbered 0 and 1 of each block, block by
// block, then those numbered 2 and 3.
inline constexpr Index kChunkBlocks = 16;
inline constexpr Index kChunkWords = 4 * kChunkBlocks;
void PhiloxChunk(std::uint64_t seed, std::uint64_t stream, std::uint64_t first_block,
                 std::uint32_t* words);

}  // namespace fathom

#endif  // FATHOM_BASE_NOISE_STREAM_H_
