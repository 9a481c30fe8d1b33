#include "fathom/neighbour/scan.h"

#include <numeric>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fathom/neighbour/scan.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#ifndef FATHOM_NEIGHBOUR_SCAN_WORK_
#define FATHOM_NEIGHBOUR_SCAN_WORK_
namespace fathom::neighbour {

constexpr Index kBlocks = 4;  // are looked at together; each has kSimdPadding rows
constexpr Index kLeafRows = 2 * kBlocks * kSimdPadding;

// One query and what is searched.
struct ScanWork {
  std::span<const std::int32_t> rows;
  Index num_leaves;
  Index columns;
  const double* values;
  const double* boxes;
  const double* query;
  NearestList* nearest;
  const std::function<bool(std::int32_t)>& left_out;
};

}  // namespace fathom::neighbour
#endif  // FATHOM_NEIGHBOUR_SCAN_WORK_

HWY_BEFORE_NAMESPACE();
namespace fathom::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, static_cast<std::size_t>(kSimdPadding)>;
using neighbour::kBlocks;
using neighbour::kLeafRows;

// The squared distances of the query to the rows of some blocks; whether any is within the limit.
// The blocks' sums do not wait for each other. As soon as some columns say that no row is near, the
// others need not be looked at.
bool BlockDistances(const double* HWY_RESTRICT blocks, const double* query, Index columns,
                    double limit, double* HWY_RESTRICT distances) {
  constexpr Index kColumnsAtATime = 4;
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto most = hn::Set(d, limit);
  bool any = false;
  for (Index first = 0; first < kSimdPadding; first += lanes) {
    hn::Vec<D> sum[kBlocks];
    for (auto& of_block : sum) of_block = hn::Zero(d);
    bool near = true;
    for (Index q = 0; q < columns && near;) {
      for (const Index end = std::min(columns, q + kColumnsAtATime); q < end; ++q) {
        const auto at = hn::Set(d, query[q]);
        for (Index b = 0; b < kBlocks; ++b) {
          const double* column = blocks + (b * columns + q) * kSimdPadding + first;
          const auto x = hn::Sub(hn::Load(d, column), at);
          sum[b] = hn::MulAdd(x, x, sum[b]);
        }
      }
      auto least = sum[0];
      for (Index b = 1; b < kBlocks; ++b) least = hn::Min(least, sum[b]);
      near = !hn::AllFalse(d, hn::Le(least, most));
    }
    any = any || near;
    for (Index b = 0; b < kBlocks; ++b) hn::Store(sum[b], d, distances + b * kSimdPadding + first);
  }
  return any;
}

void ScanLeaf(const neighbour::ScanWork& work, Index leaf) {
  constexpr Index kRows = kBlocks * kSimdPadding;
  HWY_ALIGN double distances[kRows];
  const auto count = static_cast<Index>(work.rows.size());
  const Index end = std::min(count, (leaf + 1) * kLeafRows);
  for (Index first = leaf * kLeafRows; first < end; first += kRows) {
    if (!BlockDistances(work.values + first * work.columns, work.query, work.columns,
                        work.nearest->worst(), distances))
      continue;
    for (Index i = 0; i < std::min(kRows, end - first); ++i) {
      if (!(distances[i] <= work.nearest->worst())) continue;
      const std::int32_t row = work.rows[static_cast<std::size_t>(first + i)];
      if (!work.left_out(row)) work.nearest->Offer(distances[i], row);
    }
  }
}

struct LeafGap {
  double gap;
  Index leaf;
  bool operator<(const LeafGap& other) const {  // the nearest is the greatest
    return gap != other.gap ? gap > other.gap : leaf > other.leaf;
  }
};

// The squared distances of the query to the boxes. They are summed like those of rows, so that by
// rounding, too, none exceeds that of a row in the box.
std::vector<LeafGap> LeafGaps(const neighbour::ScanWork& work) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  std::vector<LeafGap> gaps(static_cast<std::size_t>(work.num_leaves));
  HWY_ALIGN double sums[kSimdPadding];
  for (Index block = 0; block < work.num_leaves; block += kSimdPadding) {
    const double* box = work.boxes + 2 * block * work.columns;
    for (Index first = 0; first < kSimdPadding; first += lanes) {
      auto sum = hn::Zero(d);
      for (Index q = 0; q < work.columns; ++q) {
        const double* column = box + 2 * q * kSimdPadding + first;
        const auto x = hn::Set(d, work.query[q]);
        const auto below = hn::Sub(hn::Load(d, column), x);
        const auto above = hn::Sub(x, hn::Load(d, column + kSimdPadding));
        const auto gap = hn::Max(hn::Max(below, above), hn::Zero(d));
        sum = hn::MulAdd(gap, gap, sum);
      }
      hn::Store(sum, d, sums + first);
    }
    for (Index i = 0; i < std::min(kSimdPadding, work.num_leaves - block); ++i)
      gaps[static_cast<std::size_t>(block + i)] = {sums[i], block + i};
  }
  return gaps;
}

// The nearest leaf first, until the next one is too far away.
void ScanLeaves(const neighbour::ScanWork& work) {
  std::vector<LeafGap> leaves = LeafGaps(work);
  std::make_heap(leaves.begin(), leaves.end());
  while (!leaves.empty() && leaves.front().gap <= work.nearest->worst()) {
    ScanLeaf(work, leaves.front().leaf);
    std::pop_heap(leaves.begin(), leaves.end());
    leaves.pop_back();
  }
}

}  // namespace fathom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom {

namespace {

HWY_EXPORT(ScanLeaves);

using neighbour::kLeafRows;

// The column in which these rows differ most.
Index WidestColumn(const Matrix& places, std::span<const std::int32_t> rows) {
  Eigen::RowVectorXd least = places.row(rows.front());
  Eigen::RowVectorXd most = least;
  for (const std::int32_t row : rows) {
    least = least.cwiseMin(places.row(row));
    most = most.cwiseMax(places.row(row));
  }
  Index widest = 0;
  (most - least).maxCoeff(&widest);
  return widest;
}

}  // namespace

RowLeaves::RowLeaves(const Matrix& places, std::vector<std::int32_t> rows)
    : columns_(places.cols()),
      rows_(std::move(rows)),
      num_leaves_((std::ssize(rows_) + kLeafRows - 1) / kLeafRows),
      values_(static_cast<std::size_t>(num_leaves_ * kLeafRows * columns_)),
      boxes_(static_cast<std::size_t>(2 * PaddedSize(num_leaves_) * columns_)) {
  Split(places, rows_);
  Fill(places);
}

// All leaves but the last are full.
void RowLeaves::Split(const Matrix& places, std::span<std::int32_t> rows) {
  const Index leaves = (std::ssize(rows) + kLeafRows - 1) / kLeafRows;
  if (leaves <= 1) return;
  const Index q = WidestColumn(places, rows);
  const auto half = static_cast<std::size_t>((leaves + 1) / 2 * kLeafRows);
  std::nth_element(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(half), rows.end(),
                   [&](std::int32_t a, std::int32_t b) {
                     return places(a, q) != places(b, q) ? places(a, q) < places(b, q) : a < b;
                   });
  Split(places, rows.first(half));
  Split(places, rows.subspan(half));
}

void RowLeaves::Fill(const Matrix& places) {
  for (Index n = 0; n < std::ssize(rows_); ++n) {
    const Index block = n / kSimdPadding * kSimdPadding;
    const Index leaf = n / kLeafRows;
    double* box = &boxes_[2 * (leaf / kSimdPadding * kSimdPadding) * columns_];
    for (Index q = 0; q < columns_; ++q) {
      const double x = places(rows_[static_cast<std::size_t>(n)], q);
      values_[block * columns_ + q * kSimdPadding + n % kSimdPadding] = x;
      double& least = box[2 * q * kSimdPadding + leaf % kSimdPadding];
      double& most = box[(2 * q + 1) * kSimdPadding + leaf % kSimdPadding];
      least = n % kLeafRows == 0 ? x : std::min(least, x);
      most = n % kLeafRows == 0 ? x : std::max(most, x);
    }
  }
}

void RowLeaves::Scan(const double* query, NearestList* nearest,
                     const std::function<bool(std::int32_t)>& left_out) const {
  HWY_DYNAMIC_DISPATCH(ScanLeaves)
  ({rows_, num_leaves_, columns_, values_.data(), boxes_.data(), query, nearest, left_out});
}

}  // namespace fathom
#endif  // HWY_ONCE
