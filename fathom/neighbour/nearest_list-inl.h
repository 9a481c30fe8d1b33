// The list of nearest rows for the SIMD loops. Included once per target, after hwy/highway.h.
// NOLINTBEGIN(llvm-header-guard)
#if defined(FATHOM_NEIGHBOUR_NEAREST_LIST_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_NEIGHBOUR_NEAREST_LIST_INL_H_
#undef FATHOM_NEIGHBOUR_NEAREST_LIST_INL_H_
#else
#define FATHOM_NEIGHBOUR_NEAREST_LIST_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "fathom/neighbour/scan.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, static_cast<std::size_t>(kSimdPadding)>;

// Collects the m nearest rows. Rows are kept as they come, and sorted out whenever there are twice
// as many as wanted.
class NearestList {
 public:
  NearestList(Index m, ScanMemory* memory)
      : most_(m),
        limit_(2 * m),
        distances_(memory->distances),
        rows_(memory->rows),
        sorted_(memory->sorted) {
    Reserve();
  }

  Index wanted() const { return most_; }
  // Rows that are further away are not among the nearest. Infinite until there are m rows.
  double worst() const { return worst_; }

  HWY_INLINE void Offer(double distance, std::int32_t row) {
    if (!(distance <= worst_)) return;
    distances_[size_] = distance;
    rows_[size_] = row;
    if (++size_ == limit_) KeepNearest();
  }

  // Forgets rows that are further away than m others, but for a few.
  void KeepNearest() {
    if (size_ < most_) return;
    const double within = Enough();
    Index kept = 0;
    for (Index i = 0; i < size_; ++i) {
      distances_[kept] = distances_[i];
      rows_[kept] = rows_[i];
      kept += distances_[i] <= within ? 1 : 0;
    }
    size_ = kept;
    worst_ = within;
    limit_ = 2 * std::max(most_, kept);
    Reserve();
  }

  // The rows, nearest first; of equally near ones, the first.
  void Write(std::int32_t* rows) {
    if (size_ > most_ + most_ / 4) KeepNearest();
    Pad();
    if (size_ <= kManyRanks) return WriteByRank(rows);
    sorted_.clear();
    for (Index i = 0; i < size_; ++i) sorted_.emplace_back(distances_[i], rows_[i]);
    std::sort(sorted_.begin(), sorted_.end());
    for (Index i = 0; i < std::min(most_, size_); ++i) rows[i] = sorted_[i].second;
  }

 private:
  static constexpr Index kManyRanks = 256;
  static constexpr Index kReadAhead = 4 * kSimdPadding;  // distances are read so many at a time

  void Reserve() {
    if (std::ssize(rows_) >= limit_) return;
    distances_.resize(static_cast<std::size_t>(limit_ + 2 * kReadAhead));
    rows_.resize(static_cast<std::size_t>(limit_));
  }

  // So that whole vectors can be read.
  void Pad() {
    std::fill(&distances_[0] + size_, &distances_[0] + size_ + kReadAhead,
              std::numeric_limits<double>::infinity());
  }

  HWY_INLINE Index CountWithin(double distance) const {
    const Doubles d;
    std::size_t count = 0;
    for (Index i = 0; i < size_; i += static_cast<Index>(hn::Lanes(d)))
      count += hn::CountTrue(d, hn::Le(hn::Load(d, &distances_[i]), hn::Set(d, distance)));
    return static_cast<Index>(count);
  }

  // A distance within which there are as many rows as wanted, or a few more.
  double Enough() {
    Pad();
    double low = 0;
    double high = *std::max_element(&distances_[0], &distances_[0] + size_);
    if (size_ <= most_ + most_ / 8) return high;
    constexpr int kBisections = 10;
    for (int i = 0; i < kBisections; ++i) {
      const double middle = 0.5 * (low + high);
      const Index count = CountWithin(middle);
      (count >= most_ ? high : low) = middle;
      if (count >= most_ && count <= most_ + most_ / 8) break;
    }
    return high;
  }

  // Each to the place before which there are as many as are nearer.
  void WriteByRank(std::int32_t* rows) {
    HWY_ALIGN double nearer[kManyRanks] = {};
    CountNearer(nearer);
    std::uint16_t equal[kManyRanks] = {};  // how many come to a place
    for (Index i = 0; i < size_; ++i) ++equal[static_cast<Index>(nearer[i])];
    for (Index i = 0; i < size_; ++i) {
      auto rank = static_cast<Index>(nearer[i]);
      if (rank >= most_) continue;
      for (Index j = 0; equal[static_cast<Index>(nearer[i])] > 1 && j < size_; ++j)
        rank += distances_[j] == distances_[i] && rows_[j] < rows_[i] ? 1 : 0;
      if (rank < most_) rows[rank] = rows_[i];
    }
  }

  // How many are nearer than each: some vectors of them at a time are compared with one after the
  // other.
  HWY_INLINE void CountNearer(double* HWY_RESTRICT nearer) const {
    const Doubles d;
    constexpr Index kVectors = 4;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    const auto one = hn::Set(d, 1.0);
    Index i = 0;
    for (; i < size_; i += kVectors * lanes) {
      hn::Vec<Doubles> own[kVectors], count[kVectors];
      for (Index v = 0; v < kVectors; ++v) {
        own[v] = hn::Load(d, &distances_[i + v * lanes]);
        count[v] = hn::Zero(d);
      }
      for (Index j = 0; j < size_; ++j) {
        const auto other = hn::Set(d, distances_[j]);
        for (Index v = 0; v < kVectors; ++v)
          count[v] = hn::IfThenElse(hn::Lt(other, own[v]), hn::Add(count[v], one), count[v]);
      }
      for (Index v = 0; v < kVectors; ++v) hn::Store(count[v], d, nearer + i + v * lanes);
    }
  }

  Index most_, limit_;
  Index size_ = 0;
  double worst_ = std::numeric_limits<double>::infinity();
  AlignedBuffer& distances_;
  std::vector<std::int32_t>& rows_;
  std::vector<std::pair<double, std::int32_t>>& sorted_;
};

}  // namespace fathom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
// NOLINTEND(llvm-header-guard)
