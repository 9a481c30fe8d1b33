#include "fathom/neighbour/scan.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fathom/neighbour/scan.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fathom::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, static_cast<std::size_t>(kSimdPadding)>;

// The squared distances of the query to the rows of one block; whether any is below the limit.
bool BlockDistances(const double* HWY_RESTRICT block, const double* query, Index columns,
                    double limit, double* HWY_RESTRICT distances) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  bool any = false;
  for (Index first = 0; first < kSimdPadding; first += lanes) {
    auto sum = hn::Zero(d);
    for (Index q = 0; q < columns; ++q) {
      const auto x = hn::Sub(hn::Load(d, block + q * kSimdPadding + first), hn::Set(d, query[q]));
      sum = hn::MulAdd(x, x, sum);
    }
    any = any || !hn::AllFalse(d, hn::Lt(sum, hn::Set(d, limit)));
    hn::Store(sum, d, distances + first);
  }
  return any;
}

void ScanBlocks(const double* values, Index rows, Index columns, const double* query,
                NearestList* nearest, const std::function<bool(std::int32_t)>& left_out) {
  HWY_ALIGN double distances[kSimdPadding];
  double worst = nearest->worst();
  for (Index first = 0; first < rows; first += kSimdPadding) {
    if (!BlockDistances(values + first * columns, query, columns, worst, distances)) continue;
    const Index count = std::min(kSimdPadding, rows - first);
    for (Index i = 0; i < count; ++i) {
      const auto row = static_cast<std::int32_t>(first + i);
      if (!(distances[i] < worst) || left_out(row)) continue;
      nearest->Offer(distances[i], row);
      worst = nearest->worst();
    }
  }
}

}  // namespace fathom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom {

namespace {
HWY_EXPORT(ScanBlocks);
}  // namespace

BlockedRows::BlockedRows(const Matrix& rows)
    : rows_(rows.rows()),
      columns_(rows.cols()),
      values_(static_cast<std::size_t>(PaddedSize(rows_) * columns_)) {
  for (Index n = 0; n < rows_; ++n) {
    const Index block = n / kSimdPadding * kSimdPadding;
    for (Index q = 0; q < columns_; ++q)
      values_[block * columns_ + q * kSimdPadding + n % kSimdPadding] = rows(n, q);
  }
}

void BlockedRows::Scan(const double* query, NearestList* nearest,
                       const std::function<bool(std::int32_t)>& left_out) const {
  HWY_DYNAMIC_DISPATCH(ScanBlocks)(values_.data(), rows_, columns_, query, nearest, left_out);
}

}  // namespace fathom
#endif  // HWY_ONCE
