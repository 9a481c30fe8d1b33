#include "fathom/inference/sums.h"

#include <algorithm>

#include "fathom/base/error.h"

namespace fathom {

namespace {

void AddRange(const Sums& part, Index begin, Index count, const AlignedBuffer& from,
              AlignedBuffer* to) {
  FATHOM_CHECK(part.layout.size == static_cast<Index>(to->size()));
  Eigen::Map<Vector>(to->data() + begin, count) +=
      Eigen::Map<const Vector>(from.data() + begin, count);
}

}  // namespace

void Sums::Add(const Sums& other) { AddRange(other, 0, layout.size, other.values_, &values_); }

void Sums::AddToFirst(std::span<Sums> sums, const ThreadPool& pool) {
  constexpr Index kBlock = 1 << 14;  // numbers: 128 kB, so that a block stays in the second cache
  const Index size = sums[0].layout.size;
  pool.Run((size + kBlock - 1) / kBlock, [&](Index block) {
    const Index begin = block * kBlock;
    for (const Sums& part : sums.subspan(1))
      AddRange(part, begin, std::min(kBlock, size - begin), part.values_, &sums[0].values_);
  });
}

}  // namespace fathom
