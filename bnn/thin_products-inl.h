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

// As many sums as fit beside their factors into the sixteen registers of AVX2.
constexpr Index kRowsAtOnce = 8;
constexpr Index kColsAtOnce = 12;

// Row l of B, `stride` apart, becomes lane l: packed [cols, lanes]. Lanes from `units` on are 0.
HWY_INLINE void PackUnits(const double* HWY_RESTRICT B, Index units, Index cols, Index stride,
                          double* HWY_RESTRICT packed) {
  const Index lanes = UnitLanes();
  for (Index i = 0; i < cols; ++i) {
    for (Index l = 0; l < lanes; ++l) packed[i * lanes + l] = l < units ? B[l * stride + i] : 0;
  }
}

template <Index kRows, class Finish>
HWY_INLINE void ThinRowBlock(const ThinRows& A, Index first, const double* HWY_RESTRICT packed,
                             const Finish& finish) {
  const Units d;
  const Index lanes = UnitLanes();
  const double* HWY_RESTRICT const a = A.data + first * A.stride;
  UnitVector sum[kRows];
  const auto b = hn::Load(d, packed);
  for (Index r = 0; r < kRows; ++r) sum[r] = hn::Mul(hn::Set(d, a[r * A.stride]), b);
  for (Index i = 1; i < A.cols; ++i) {
    const auto b_i = hn::Load(d, packed + i * lanes);
    for (Index r = 0; r < kRows; ++r)
      sum[r] = hn::MulAdd(hn::Set(d, a[r * A.stride + i]), b_i, sum[r]);
  }
  for (Index r = 0; r < kRows; ++r) finish(first + r, sum[r]);
}

// Calls finish(n, sum) with the products of each row n and the packed units. The bits of a row do
// not depend on the rows beside it.
template <class Finish>
HWY_INLINE void ThinForward(const ThinRows& A, const double* HWY_RESTRICT packed,
                            const Finish& finish) {
  Index n = 0;
  for (; n + kRowsAtOnce <= A.rows; n += kRowsAtOnce)
    ThinRowBlock<kRowsAtOnce>(A, n, packed, finish);
  for (; n < A.rows; ++n) ThinRowBlock<1>(A, n, packed, finish);
}

template <Index kCols, class Slopes>
HWY_INLINE void ThinColBlock(const ThinRows& A, Index first, const Slopes& slopes,
                             double* HWY_RESTRICT sums) {
  const Units d;
  const Index lanes = UnitLanes();
  UnitVector sum[kCols];
  for (Index i = 0; i < kCols; ++i) sum[i] = hn::Load(d, sums + (first + i) * lanes);
  const double* HWY_RESTRICT a = A.data + first;
  for (Index n = 0; n < A.rows; ++n, a += A.stride) {
    const auto slope = slopes(n);
    for (Index i = 0; i < kCols; ++i) sum[i] = hn::MulAdd(hn::Set(d, a[i]), slope, sum[i]);
  }
  for (Index i = 0; i < kCols; ++i) hn::Store(sum[i], d, sums + (first + i) * lanes);
}

// Finds the block of `cols` columns, which the compiler must know to keep the sums in registers.
template <Index kCols, class Slopes>
HWY_INLINE void ThinColsOf(Index cols, const ThinRows& A, Index first, const Slopes& slopes,
                           double* HWY_RESTRICT sums) {
  if constexpr (kCols == 1) {
    ThinColBlock<1>(A, first, slopes, sums);
  } else {
    if (cols == kCols) {
      ThinColBlock<kCols>(A, first, slopes, sums);
    } else {
      ThinColsOf<kCols - 1>(cols, A, first, slopes, sums);
    }
  }
}

// Adds sum_n A_ni slopes(n) to sums [cols, lanes].
template <class Slopes>
HWY_INLINE void ThinBackward(const ThinRows& A, const Slopes& slopes, double* HWY_RESTRICT sums) {
  const Index blocks = (A.cols + kColsAtOnce - 1) / kColsAtOnce;
  const Index most = (A.cols + blocks - 1) / blocks;
  for (Index first = 0; first < A.cols; first += most)
    ThinColsOf<kColsAtOnce>(std::min(most, A.cols - first), A, first, slopes, sums);
}

}  // namespace fathom::bnn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
// NOLINTEND(llvm-header-guard)
