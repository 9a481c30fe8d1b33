#include "fathom/neighbour/scan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fathom/neighbour/scan.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>
// After foreach_target.h: compiled once per target.
#include "fathom/neighbour/nearest_list-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, static_cast<std::size_t>(kSketchLanes)>;

// Calls visit(i) for each lane i in which the mask is true.
template <class Mask, class Visit>
HWY_INLINE void ForEachTrue(Mask mask, const Visit& visit) {
  const Floats d;
  if (hn::AllFalse(d, mask)) return;
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  unsigned bits = bytes[0] + 256U * bytes[1];
  for (; bits != 0; bits &= bits - 1)
    visit(static_cast<Index>(hwy::Num0BitsBelowLS1Bit_Nonzero32(bits)));
}

HWY_INLINE double SquaredDistance(const double* a, const double* b, Index padded_columns) {
  const Doubles d;
  auto sum = hn::Zero(d);
  for (Index q = 0; q < padded_columns; q += static_cast<Index>(hn::Lanes(d))) {
    const auto x = hn::Sub(hn::Load(d, a + q), hn::Load(d, b + q));
    sum = hn::MulAdd(x, x, sum);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

// Sketches of rows whose squared distance is at most `worst` are not further apart than this. Each
// coordinate is rounded to 2^-24 of the reach, and so is a query's; the sum of 16 squares, and
// itself, by less than 2e-6.
inline float SketchLimit(double worst, double reach) {
  constexpr double kRounding = 1e-6, kSums = 1 + 1e-5;
  constexpr double kLeast = 1e-36, kMost = 3e38;
  const double distance = std::sqrt(worst) + kRounding * reach;
  return static_cast<float>(std::clamp(kSums * distance * distance, kLeast, kMost));
}

// Offers the rows of leaves whose sketch is near enough.
class LeafScanner {
 public:
  LeafScanner(const LeafQuery& query, const IsLeftOut& left_out, NearestList* nearest)
      : query_(query), left_out_(left_out), nearest_(*nearest) {
    Narrow();
  }

  float limit() const { return limit_; }

  // The leaves of a query that come first. The m rows with the nearest sketches are offered before
  // the others: they are nearly the nearest, so few others need be measured.
  void ScanTogether(std::span<const Index> leaves) {
    HWY_ALIGN float distances[kTogether * kLeafRows] = {};
    Index count = 0;
    for (const Index leaf : leaves) Distances(leaf, distances + kLeafRows * count++);
    const float first = Enough({distances, static_cast<std::size_t>(count * kLeafRows)});
    for (Index i = 0; i < count; ++i) Offer(leaves[i], distances + i * kLeafRows, -1, first);
    nearest_.KeepNearest();
    Narrow();
    for (Index i = 0; i < count; ++i) Offer(leaves[i], distances + i * kLeafRows, first, limit_);
    nearest_.KeepNearest();
    Narrow();
  }

  void Scan(Index leaf) {
    HWY_ALIGN float distances[kLeafRows] = {};
    if (!Distances(leaf, distances)) return;
    Offer(leaf, distances, -1, limit_);
    Narrow();
  }

  static constexpr Index kTogether = 4;

 private:
  void Narrow() {
    if (nearest_.worst() == worst_) return;
    worst_ = nearest_.worst();
    limit_ = SketchLimit(worst_, query_.reach);
  }

  // Of the sketches of a leaf's rows to the query's; false if some of the axes say that none is
  // near.
  bool Distances(Index leaf, float* HWY_RESTRICT distances) const {
    constexpr Index kVectors = 4;
    const Floats d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    const float* sketches = query_.sketches + leaf * query_.axes * kLeafRows;
    bool any = false;
    for (Index first = 0; first < kLeafRows; first += kVectors * lanes) {
      hn::Vec<Floats> sum[kVectors];
      for (hn::Vec<Floats>& s : sum) s = hn::Zero(d);
      bool near = true;
      for (Index axis = 0; axis < query_.axes && near; axis += kBoxAxes) {
        for (Index q = axis; q < std::min(query_.axes, axis + kBoxAxes); ++q) {
          const auto at = hn::Set(d, query_.sketch[q]);
          const float* column = sketches + q * kLeafRows + first;
          for (Index v = 0; v < kVectors; ++v) {
            const auto x = hn::Sub(hn::Load(d, column + v * lanes), at);
            sum[v] = hn::MulAdd(x, x, sum[v]);
          }
        }
        auto least = sum[0];
        for (Index v = 1; v < kVectors; ++v) least = hn::Min(least, sum[v]);
        near = !hn::AllFalse(d, hn::Le(least, hn::Set(d, limit_)));
      }
      any = any || near;
      for (Index v = 0; v < kVectors; ++v) hn::Store(sum[v], d, distances + first + v * lanes);
    }
    return any;
  }

  // A distance within which there are as many sketches as rows are wanted, or a few more; if there
  // are not so many, the largest.
  float Enough(std::span<const float> distances) const {
    const Floats d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    const Index wanted = nearest_.wanted();
    float low = 0;
    float high = *std::max_element(distances.begin(), distances.end());
    constexpr int kBisections = 12;
    for (int i = 0; i < kBisections; ++i) {
      const float middle = 0.5F * (low + high);
      Index count = 0;
      for (Index n = 0; n < std::ssize(distances); n += lanes) {
        const auto near = hn::Le(hn::Load(d, &distances[n]), hn::Set(d, middle));
        count += static_cast<Index>(hn::CountTrue(d, near));
      }
      (count >= wanted ? high : low) = middle;
      if (count >= wanted && count <= wanted + wanted / 8) break;
    }
    return high;
  }

  // The rows of a leaf whose sketches are further away than `above`, but not than `up_to`.
  void Offer(Index leaf, const float* distances, float above, float up_to) {
    const Floats d;
    for (Index i = 0; i < kLeafRows; i += static_cast<Index>(hn::Lanes(d))) {
      const auto distance = hn::Load(d, distances + i);
      const auto near =
          hn::And(hn::Gt(distance, hn::Set(d, above)), hn::Le(distance, hn::Set(d, up_to)));
      ForEachTrue(near, [&](Index lane) { Measure(leaf * kLeafRows + i + lane); });
    }
  }

  // The place is one of the leaves' rows; behind the last row there is nothing.
  HWY_INLINE void Measure(Index place) {
    if (place >= std::ssize(query_.rows)) return;
    const double distance = SquaredDistance(query_.values + place * query_.padded_columns,
                                            query_.memory->query.data(), query_.padded_columns);
    if (!(distance <= nearest_.worst())) return;
    const std::int32_t row = query_.rows[static_cast<std::size_t>(place)];
    if (!left_out_(row)) nearest_.Offer(distance, row);
  }

  const LeafQuery& query_;
  const IsLeftOut& left_out_;
  NearestList& nearest_;
  double worst_ = -1;
  float limit_ = 0;
};

// The squared distances of the query's sketch to the boxes of leaves. They are summed like those
// of rows, so that by rounding, too, none exceeds that of a row in the box.
void LeafGaps(const LeafQuery& query) {
  const Floats d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const Index axes = std::min(query.axes, kBoxAxes);
  for (Index block = 0; block < query.num_leaves; block += kSketchLanes) {
    const float* box = query.boxes + 2 * block * axes;
    for (Index first = 0; first < kSketchLanes; first += lanes) {
      auto sum = hn::Zero(d);
      for (Index q = 0; q < axes; ++q) {
        const float* column = box + 2 * q * kSketchLanes + first;
        const auto x = hn::Set(d, query.sketch[q]);
        const auto below = hn::Sub(hn::Load(d, column), x);
        const auto above = hn::Sub(x, hn::Load(d, column + kSketchLanes));
        const auto gap = hn::Max(hn::Max(below, above), hn::Zero(d));
        sum = hn::MulAdd(gap, gap, sum);
      }
      hn::Store(sum, d, query.memory->gaps.data() + block + first);
    }
  }
  std::fill(query.memory->gaps.begin() + query.num_leaves, query.memory->gaps.end(),
            std::numeric_limits<float>::infinity());
}

// The leaf with the smallest gap; -1 if all are infinite.
Index SmallestGap(const AlignedVector<float>& gaps) {
  const Floats d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  auto least = hn::Set(d, std::numeric_limits<float>::infinity());
  for (Index i = 0; i < std::ssize(gaps); i += lanes) least = hn::Min(least, hn::Load(d, &gaps[i]));
  const auto smallest = hn::MinOfLanes(d, least);
  if (!(hn::GetLane(smallest) < std::numeric_limits<float>::infinity())) return -1;
  for (Index i = 0; i < std::ssize(gaps); i += lanes) {
    const auto found = hn::FindFirstTrue(d, hn::Eq(hn::Load(d, &gaps[i]), smallest));
    if (found >= 0) return i + found;
  }
  return -1;
}

Index LeafNextTo(const LeafQuery& query) {
  LeafGaps(query);
  return SmallestGap(query.memory->gaps);
}

// The leaves within the limit, but the nearest of them if there are too many; the nearest first.
// Floats that are not negative are in the order of their bits.
void NearLeaves(const AlignedVector<float>& gaps, float limit, std::vector<std::uint64_t>* order) {
  const Floats d;
  order->clear();
  for (Index i = 0; i < std::ssize(gaps); i += static_cast<Index>(hn::Lanes(d))) {
    ForEachTrue(hn::Le(hn::Load(d, &gaps[i]), hn::Set(d, limit)), [&](Index lane) {
      std::uint32_t bits = 0;
      hwy::CopyBytes<sizeof(bits)>(&gaps[i + lane], &bits);
      order->push_back((std::uint64_t{bits} << 32) + static_cast<std::uint64_t>(i + lane));
    });
  }
  if (std::ssize(*order) > kMostLeaves) {
    std::nth_element(order->begin(), order->begin() + kMostLeaves, order->end());
    order->resize(static_cast<std::size_t>(kMostLeaves));
  }
  std::sort(order->begin(), order->end());
}

// The nearest leaves fill the list; of the others, only those are looked at that may have nearer
// rows.
void ScanLeaves(const LeafQuery& query, Index m, const IsLeftOut& left_out, std::int32_t* found) {
  constexpr float kDone = std::numeric_limits<float>::infinity();
  AlignedVector<float>& gaps = query.memory->gaps;
  LeafGaps(query);
  NearestList nearest(m, query.memory);
  LeafScanner scanner(query, left_out, &nearest);
  while (std::isinf(nearest.worst())) {
    Index leaves[LeafScanner::kTogether];
    std::size_t count = 0;
    for (; count < LeafScanner::kTogether; ++count) {
      leaves[count] = SmallestGap(gaps);
      if (leaves[count] < 0) break;
      gaps[leaves[count]] = kDone;
    }
    if (count == 0) return nearest.Write(found);
    scanner.ScanTogether({leaves, count});
  }
  NearLeaves(gaps, scanner.limit(), &query.memory->order);
  for (const std::uint64_t entry : query.memory->order) {
    const auto leaf = static_cast<Index>(entry & 0xffffffffU);
    if (gaps[leaf] > scanner.limit()) break;
    scanner.Scan(leaf);
  }
  nearest.Write(found);
}

}  // namespace fathom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom {

namespace {
HWY_EXPORT(LeafNextTo);
HWY_EXPORT(ScanLeaves);
}  // namespace

Index NearestLeaf(const LeafQuery& query) { return HWY_DYNAMIC_DISPATCH(LeafNextTo)(query); }

void FindNearest(const LeafQuery& query, Index m, const IsLeftOut& left_out,
                 std::int32_t* nearest) {
  HWY_DYNAMIC_DISPATCH(ScanLeaves)(query, m, left_out, nearest);
}

}  // namespace fathom
#endif  // HWY_ONCE
