// Buffers aligned to cache lines, for the SIMD loops.
#ifndef FATHOM_BASE_ALIGNED_H_
#define FATHOM_BASE_ALIGNED_H_

#include <cstddef>
#include <new>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/base/types.h"

namespace fathom FATHOM_PUBLIC {

// Arrays that SIMD loops run over are padded to a multiple of this many doubles, which covers the
// widest vector in use (AVX-512: 8). Loops may read and write the padding; it never reaches a
// result.
inline constexpr Index kSimdPadding = 8;
constexpr Index PaddedSize(Index n) { return (n + kSimdPadding - 1) / kSimdPadding * kSimdPadding; }

template <typename T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};

  AlignedAllocator() = default;
  template <typename U>
  explicit AlignedAllocator(const AlignedAllocator<U>& /*other*/) {}

  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kAlignment)); }
  void deallocate(T* pointer, std::size_t /*n*/) { ::operator delete(pointer, kAlignment); }
  bool operator==(const AlignedAllocator& /*other*/) const { return true; }
};

template <typename T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;
using AlignedBuffer = AlignedVector<double>;

}  // namespace fathom

#endif  // FATHOM_BASE_ALIGNED_H_
