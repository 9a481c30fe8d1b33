// Lower triangles of vectors for the SIMD loops: lane i of all vectors is a matrix of its own.
// Included once per target, after hwy/highway.h.
// NOLINTBEGIN(llvm-header-guard)
#if defined(FATHOM_NEIGHBOUR_LANE_TRIANGLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_NEIGHBOUR_LANE_TRIANGLE_INL_H_
#undef FATHOM_NEIGHBOUR_LANE_TRIANGLE_INL_H_
#else
#define FATHOM_NEIGHBOUR_LANE_TRIANGLE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "fathom/base/aligned.h"
#include "fathom/base/types.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Vectors of T, and arrays of them.
template <typename T>
struct Laned {
  using D = hn::CappedTag<T, static_cast<std::size_t>(kSimdPadding) * sizeof(double) / sizeof(T)>;
  using V = hn::Vec<D>;
  using Buffer = AlignedVector<T>;
#if HWY_TARGET == HWY_SCALAR
  static constexpr Index kLanes = 1;
#else
  static constexpr Index kLanes = static_cast<Index>(hn::MaxLanes(D()));
#endif

  static HWY_INLINE Index LaneSize(Index vectors) { return vectors * kLanes; }
  static HWY_INLINE V LoadAt(const Buffer& from, Index place) {
    return hn::Load(D(), &from[place * kLanes]);
  }
  static HWY_INLINE void StoreAt(V value, Buffer& to, Index place) {
    hn::Store(value, D(), &to[place * kLanes]);
  }
  static HWY_INLINE V Set(double value) { return hn::Set(D(), static_cast<T>(value)); }
};
// In a class that uses them.
#define FATHOM_LANED(T)                     \
  using D = typename Laned<T>::D;           \
  using V = typename Laned<T>::V;           \
  using Buffer = typename Laned<T>::Buffer; \
  using Laned<T>::kLanes;                   \
  using Laned<T>::LaneSize;                 \
  using Laned<T>::LoadAt;                   \
  using Laned<T>::StoreAt

// Loops work on several rows at a time, so that each load serves more than one of them.
constexpr Index kBlock = 4;
// Rows that are eliminated together: the more, the less often those above are read, which are in
// the second cache. Their sums fill 16 of 32 registers; elsewhere there are only 16.
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
constexpr Index kTall = kBlock;
#else
constexpr Index kTall = 2 * kBlock;
#endif

// The place of row i, column j in a lower triangle that is stored row by row.
HWY_INLINE Index TriangleAt(Index i, Index j) { return i * (i + 1) / 2 + j; }

// A symmetric matrix K [m, m] with two rows y and k below it, which becomes its Cholesky factor L
// with a = L^-1 y and w = L^-1 k below. The diagonal of L holds its inverse. m is a multiple of
// kBlock.
template <typename T>
class LaneTriangle : private Laned<T> {
 public:
  FATHOM_LANED(T);

  explicit LaneTriangle(Index m) : m_(m), L_(LaneSize(TriangleAt(m + 2, 0))) {}

  T* Row(Index i) { return &L_[TriangleAt(i, 0) * kLanes]; }
  HWY_INLINE V Get(Index i, Index j) const { return LoadAt(L_, TriangleAt(i, j)); }
  HWY_INLINE void Set(Index i, Index j, V value) { StoreAt(value, L_, TriangleAt(i, j)); }

  // In place. make_row(i) sets row i of K and element i of k; y is there. Rows are made when their
  // turn comes, so that they are still in the nearest cache.
  template <typename MakeRow>
  void Factorize(const MakeRow& make_row) {
    for (Index i = 0; i < m_; i += kTall) {
      const Index end = std::min(m_, i + kTall);
      for (Index r = i; r < end; ++r) make_row(r);
      for (Index j = 0; j < i; j += 2) {
        // NOLINTNEXTLINE(bugprone-branch-clone): kTall is kBlock only where there are few registers
        if (end - i == kTall) {
          Eliminate<kTall>(i, j);
        } else {
          Eliminate<kBlock>(i, j);
        }
      }
      for (Index r = i; r < end; r += kBlock) {
        for (Index j = i; j < r; j += 2) Eliminate<kBlock>(r, j);
        FactorizeDiagonal(r);
      }
    }
    for (Index j = 0; j < m_; j += 2) Eliminate<2>(m_, j);
  }

  // K^-1 y and K^-1 k, from the last rows of L.
  void SolveBackward(Buffer* K_inverse_y, Buffer* K_inverse_k) const {
    for (Index i = 0; i < m_; ++i) {
      StoreAt(Get(m_, i), *K_inverse_y, i);
      StoreAt(Get(m_ + 1, i), *K_inverse_k, i);
    }
    for (Index i = m_ - kBlock; i >= 0; i -= kBlock) {
      V a[kBlock], w[kBlock];
      for (Index r = kBlock - 1; r >= 0; --r) {
        a[r] = LoadAt(*K_inverse_y, i + r);
        w[r] = LoadAt(*K_inverse_k, i + r);
        for (Index k = r + 1; k < kBlock; ++k) {
          const V l = Get(i + k, i + r);
          a[r] = hn::NegMulAdd(l, a[k], a[r]);
          w[r] = hn::NegMulAdd(l, w[k], w[r]);
        }
        a[r] = hn::Mul(a[r], Get(i + r, i + r));
        w[r] = hn::Mul(w[r], Get(i + r, i + r));
        StoreAt(a[r], *K_inverse_y, i + r);
        StoreAt(w[r], *K_inverse_k, i + r);
      }
      for (Index j = 0; j < i; ++j) {
        V aj = LoadAt(*K_inverse_y, j);
        V wj = LoadAt(*K_inverse_k, j);
        for (Index r = 0; r < kBlock; ++r) {
          const V l = Get(i + r, j);
          aj = hn::NegMulAdd(l, a[r], aj);
          wj = hn::NegMulAdd(l, w[r], wj);
        }
        StoreAt(aj, *K_inverse_y, j);
        StoreAt(wj, *K_inverse_k, j);
      }
    }
  }

 private:
  // Columns j and j + 1 of kRows rows below the diagonal.
  template <Index kRows>
  HWY_INLINE void Eliminate(Index i, Index j) {
    const D d;
    const T* left = Row(j);
    const T* right = Row(j + 1);
    T* rows[kRows];
    V first[kRows], second[kRows];
    for (Index r = 0; r < kRows; ++r) {
      rows[r] = Row(i + r);
      first[r] = hn::Load(d, rows[r] + j * kLanes);
      second[r] = hn::Load(d, rows[r] + (j + 1) * kLanes);
    }
    for (Index k = 0; k < j; ++k) {
      const V lk = hn::Load(d, left + k * kLanes);
      const V rk = hn::Load(d, right + k * kLanes);
      for (Index r = 0; r < kRows; ++r) {
        const V x = hn::Load(d, rows[r] + k * kLanes);
        first[r] = hn::NegMulAdd(x, lk, first[r]);
        second[r] = hn::NegMulAdd(x, rk, second[r]);
      }
    }
    const V left_inverse = hn::Load(d, left + j * kLanes);
    const V between = hn::Load(d, right + j * kLanes);
    const V right_inverse = hn::Load(d, right + (j + 1) * kLanes);
    for (Index r = 0; r < kRows; ++r) {
      first[r] = hn::Mul(first[r], left_inverse);
      second[r] = hn::Mul(hn::NegMulAdd(first[r], between, second[r]), right_inverse);
      hn::Store(first[r], d, rows[r] + j * kLanes);
      hn::Store(second[r], d, rows[r] + (j + 1) * kLanes);
    }
  }

  // The block on the diagonal whose first row is i.
  HWY_INLINE void FactorizeDiagonal(Index i) {
    const D d;
    V s[kBlock][kBlock];
    for (Index r = 0; r < kBlock; ++r) {
      for (Index c = 0; c <= r; ++c) s[r][c] = Get(i + r, i + c);
    }
    for (Index k = 0; k < i; ++k) {
      V x[kBlock];
      for (Index r = 0; r < kBlock; ++r) x[r] = Get(i + r, k);
      for (Index r = 0; r < kBlock; ++r) {
        for (Index c = 0; c <= r; ++c) s[r][c] = hn::NegMulAdd(x[r], x[c], s[r][c]);
      }
    }
    for (Index r = 0; r < kBlock; ++r) {
      for (Index c = 0; c <= r; ++c) {
        for (Index k = 0; k < c; ++k) s[r][c] = hn::NegMulAdd(s[r][k], s[c][k], s[r][c]);
        s[r][c] = c < r ? hn::Mul(s[r][c], s[c][c]) : hn::Div(hn::Set(d, T{1}), hn::Sqrt(s[r][c]));
        Set(i + r, i + c, s[r][c]);
      }
    }
  }

  Index m_;
  Buffer L_;  // lower triangle, row by row
};

}  // namespace fathom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
// NOLINTEND(llvm-header-guard)
