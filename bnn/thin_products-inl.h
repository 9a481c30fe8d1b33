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

HWY_BEFORE_NAMESPACE();
namespace fathom::bnn::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
using Units = hn::CappedTag<T, static_cast<std::size_t>(kWidestVector<T>)>;
template <typename T>
using UnitVector = hn::Vec<Units<T>>;

template <typename T>
HWY_INLINE Index UnitLanes() {
  return static_cast<Index>(hn::Lanes(Units<T>()));
}

// As many sums as fit beside their factors into the sixteen registers of AVX2. With AVX-512, which
// has twice as many, gcc unrolls no more than this.
constexpr Index kRowsAtOnce = 8;
constexpr Index kColsAtOnce = 12;

// Row l of B, `stride` apart, becomes lane l: packed [cols, lanes]. Lanes from `units` on are 0.
template <typename T>
HWY_INLINE void PackUnits(const double* HWY_RESTRICT B, Index units, Index cols, Index stride,
                          T* HWY_RESTRICT packed) {
  const Index lanes = UnitLanes<T>();
  if (units < lanes) std::fill_n(packed, cols * lanes, T{0});
  for (Index l = 0; l < units; ++l) {
    for (Index i = 0; i < cols; ++i) packed[i * lanes + l] = static_cast<T>(B[l * stride + i]);
  }
}

// kVectors vectors of units, packed one behind the other, `stride` apart.
template <typename T>
struct PackedUnits {
  const T* data;
  Index stride;
};

template <Index kRows, Index kVectors, typename T, class Finish>
HWY_INLINE void ThinRowBlock(const ThinRows<T>& A, Index first, const PackedUnits<T>& packed,
                             const UnitVector<T>* start, const Finish& finish) {
  const Units<T> d;
  const Index lanes = UnitLanes<T>();
  const T* HWY_RESTRICT a = A.data + first * A.stride;
  const T* HWY_RESTRICT b = packed.data;
  UnitVector<T> sum[kRows][kVectors];
  for (Index r = 0; r < kRows; ++r) {
    for (Index v = 0; v < kVectors; ++v) sum[r][v] = start[v];
  }
  for (Index i = 0; i < A.cols; ++i, ++a, b += lanes) {
    UnitVector<T> unit[kVectors];
    for (Index v = 0; v < kVectors; ++v) unit[v] = hn::Load(d, b + v * packed.stride);
    for (Index r = 0; r < kRows; ++r) {
      const auto x = hn::Set(d, a[r * A.stride]);
      for (Index v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(x, unit[v], sum[r][v]);
    }
  }
  for (Index r = 0; r < kRows; ++r) finish(first + r, sum[r]);
}

// Calls finish(n, sums) with `start` plus the products of each row n and the packed units. The bits
// of a row do not depend on the rows beside it.
template <Index kVectors, typename T, class Finish>
HWY_INLINE void ThinForward(const ThinRows<T>& A, const PackedUnits<T>& packed,
                            const UnitVector<T>* start, const Finish& finish) {
  constexpr Index kRows = kRowsAtOnce / kVectors;
  Index n = 0;
  for (; n + kRows <= A.rows; n += kRows)
    ThinRowBlock<kRows, kVectors>(A, n, packed, start, finish);
  for (; n < A.rows; ++n) ThinRowBlock<1, kVectors>(A, n, packed, start, finish);
}

template <Index kCols, bool kTotal, typename T, class Slopes>
HWY_INLINE void ThinColBlock(const ThinRows<T>& A, Index first, const Slopes& slopes,
                             T* HWY_RESTRICT sums) {
  const Units<T> d;
  const Index lanes = UnitLanes<T>();
  T* HWY_RESTRICT const own = sums + first * lanes;
  T* HWY_RESTRICT const last = sums + A.cols * lanes;
  UnitVector<T> sum[kCols];
  for (Index i = 0; i < kCols; ++i) sum[i] = hn::Load(d, own + i * lanes);
  auto total = kTotal ? hn::Load(d, last) : hn::Zero(d);
  const T* HWY_RESTRICT a = A.data + first;
  for (Index n = 0; n < A.rows; ++n, a += A.stride) {
    const auto slope = slopes(n);
    for (Index i = 0; i < kCols; ++i) sum[i] = hn::MulAdd(hn::Set(d, a[i]), slope, sum[i]);
    if (kTotal) total = hn::Add(total, slope);
  }
  for (Index i = 0; i < kCols; ++i) hn::Store(sum[i], d, own + i * lanes);
  if (kTotal) hn::Store(total, d, last);
}

// Finds the block of `cols` columns, which the compiler must know to keep the sums in registers.
template <Index kCols, bool kTotal, typename T, class Slopes>
HWY_INLINE void ThinColsOf(Index cols, const ThinRows<T>& A, Index first, const Slopes& slopes,
                           T* HWY_RESTRICT sums) {
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
template <bool kTotal, typename T, class Slopes>
HWY_INLINE void ThinBackward(const ThinRows<T>& A, const Slopes& slopes, T* HWY_RESTRICT sums) {
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
