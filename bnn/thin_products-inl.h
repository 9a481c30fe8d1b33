// The loops of products with a matrix of few columns. Lane l of a vector belongs to unit j + l, and
// sums stay in registers. Included once per target, after hwy/highway.h.
// NOLINTBEGIN(llvm-header-guard)
#if defined(FATHOM_BNN_THIN_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_BNN_THIN_PRODUCTS_INL_H_
#undef FATHOM_BNN_THIN_PRODUCTS_INL_H_
#else
#define FATHOM_BNN_THIN_PRODUCTS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "bnn/thin_products.h"
#include "fathom/base/aligned.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::bnn::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Units = hn::CappedTag<double, static_cast<std::size_t>(kSimdPadding)>;
using UnitVector = hn::Vec<Units>;

HWY_INLINE Index UnitLanes() { return static_cast<Index>(hn::Lanes(Units())); }

// As many sums as fit beside their factors into the sixteen registers of AVX2. With AVX-512, which
// has twice as many, gcc unrolls no more than this.
constexpr Index kRowsAtOnce = 8;
constexpr Index kColsAtOnce = 12;

// Row l of B, `stride` apart, becomes lane l: packed [cols, lanes]. Lanes from `units` on are 0.
HWY_INLINE void PackUnits(const double* HWY_RESTRICT B, Index units, Index cols, Index stride,
                          double* HWY_RESTRICT packed) {
  const Index lanes = UnitLanes();
  if (units < lanes) std::fill_n(packed, cols * lanes, 0.0);
  for (Index l = 0; l < units; ++l) {
    for (Index i = 0; i < cols; ++i) packed[i * lanes + l] = B[l * stride + i];
  }
}

template <Index kRows, class Finish>
HWY_INLINE void ThinRowBlock(const ThinRows& A, Index first, const double* HWY_RESTRICT packed,
                             UnitVector start, const Finish& finish) {
  const Units d;
  const Index lanes = UnitLanes();
  const double* HWY_RESTRICT const a = A.data + first * A.stride;
  UnitVector sum[kRows];
  for (Index r = 0; r < kRows; ++r) sum[r] = start;
  for (Index i = 0; i < A.cols; ++i) {
    const auto b = hn::Load(d, packed + i * lanes);
    for (Index r = 0; r < kRows; ++r)
      sum[r] = hn::MulAdd(hn::Set(d, a[r * A.stride + i]), b, sum[r]);
  }
  for (Index r = 0; r < kRows; ++r) finish(first + r, sum[r]);
}

// Calls finish(n, sum) with `start` plus the products of each row n and the packed units. The bits
// of a row do not depend on the rows beside it.
template <class Finish>
HWY_INLINE void ThinForward(const ThinRows& A, const double* HWY_RESTRICT packed, UnitVector start,
                            const Finish& finish) {
  Index n = 0;
  for (; n + kRowsAtOnce <= A.rows; n += kRowsAtOnce)
    ThinRowBlock<kRowsAtOnce>(A, n, packed, start, finish);
  for (; n < A.rows; ++n) ThinRowBlock<1>(A, n, packed, start, finish);
}

template <Index kCols, bool kTotal, class Slopes>
HWY_INLINE void ThinColBlock(const ThinRows& A, Index first, const Slopes& slopes,
                             double* HWY_RESTRICT sums) {
  const Units d;
  const Index lanes = UnitLanes();
  double* HWY_RESTRICT const own = sums + first * lanes;
  double* HWY_RESTRICT const last = sums + A.cols * lanes;
  UnitVector sum[kCols];
  for (Index i = 0; i < kCols; ++i) sum[i] = hn::Load(d, own + i * lanes);
  auto total = kTotal ? hn::Load(d, last) : hn::Zero(d);
  const double* HWY_RESTRICT a = A.data + first;
  for (Index n = 0; n < A.rows; ++n, a += A.stride) {
    const auto slope = slopes(n);
    for (Index i = 0; i < kCols; ++i) sum[i] = hn::MulAdd(hn::Set(d, a[i]), slope, sum[i]);
    if (kTotal) total = hn::Add(total, slope);
  }
  for (Index i = 0; i < kCols; ++i) hn::Store(sum[i], d, own + i * lanes);
  if (kTotal) hn::Store(total, d, last);
}

// Finds the block of `cols` columns, which the compiler must know to keep the sums in registers.
template <Index kCols, bool kTotal, class Slopes>
HWY_INLINE void ThinColsOf(Index cols, const ThinRows& A, Index first, const Slopes& slopes,
                           double* HWY_RESTRICT sums) {
  if constexpr (kCols == 1) {
    ThinColBlock<1, kTotal>(A, first, slopes, sums);
  } else if (cols == kCols) {
    ThinColBlock<kCols, kTotal>(A, first, slopes, sums);
  } else {
    ThinColsOf<kCols - 1, kTotal>(cols, A, first, slopes, sums);
  }
}

// Adds sum_n A_ni slopes(n) to sums [cols, lanes], and with kTotal sum_n slopes(n) to a last row of
// it, as if A ended in a column of ones.
template <bool kTotal, class Slopes>
HWY_INLINE void ThinBackward(const ThinRows& A, const Slopes& slopes, double* HWY_RESTRICT sums) {
  const Index blocks = (A.cols + kColsAtOnce - 1) / kColsAtOnce;
  const Index most = (A.cols + blocks - 1) / blocks;
  ThinColsOf<kColsAtOnce, kTotal>(most, A, 0, slopes, sums);
  for (Index first = most; first < A.cols; first += most)
    ThinColsOf<kColsAtOnce, false>(std::min(most, A.cols - first), A, first, slopes, sums);
}

}  // namespace fathom::bnn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
// NOLINTEND(llvm-header-guard)
