// The loops over pairs of pseudo-points: psi2 of the SE-ARD kernel, forward and backward. Included
// once per target by se_ard_loops.cc, after hwy/highway.h.
// NOLINTBEGIN(llvm-header-guard)
#if defined(FATHOM_KERNEL_SE_ARD_PAIR_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_KERNEL_SE_ARD_PAIR_LOOPS_INL_H_
#undef FATHOM_KERNEL_SE_ARD_PAIR_LOOPS_INL_H_
#else
#define FATHOM_KERNEL_SE_ARD_PAIR_LOOPS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "fathom/base/aligned.h"
#include "fathom/base/error.h"
#include "fathom/base/simd_exp-inl.h"
#include "fathom/kernel/se_ard_loops.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using se_ard::PairTile;

template <typename T>
using Tag = hn::CappedTag<T, static_cast<std::size_t>(kSimdPadding) * sizeof(double) / sizeof(T)>;
using D = Tag<double>;
using V = hn::Vec<D>;

// Sums of terms of type T: kBlock of them in T itself, the sums of these in double.
constexpr Index kBlock = 32;

// Adds a vector of T to the doubles at `to`, as many as it has lanes.
HWY_INLINE void AddTo(D d, V x, double* HWY_RESTRICT to) {
  hn::Store(hn::Add(hn::Load(d, to), x), d, to);
}
HWY_INLINE void AddTo(Tag<float> /*d*/, hn::Vec<Tag<float>> x, double* HWY_RESTRICT to) {
#if HWY_TARGET == HWY_SCALAR
  const D wide;
  AddTo(wide, hn::PromoteTo(wide, x), to);
#else
  const hn::Half<Tag<float>> half;
  const hn::Rebind<double, decltype(half)> wide;
  AddTo(wide, hn::PromoteTo(wide, hn::LowerHalf(half, x)), to);
  AddTo(wide, hn::PromoteTo(wide, hn::UpperHalf(half, x)), to + hn::Lanes(half));
#endif
}

// The lanes of a vector of partial sums, added in their order.
template <typename T>
double SumOfPartial(const double* partial) {
  const auto lanes = static_cast<Index>(hn::Lanes(Tag<T>()));
  double total = 0;
  for (Index i = 0; i < lanes; ++i) total += partial[i];
  return total;
}

// The loops compute exp(-|y|^2) as 2^(-|s y|^2), which takes three operations less, and s = this.
constexpr double kRootLog2E = 1.2011224087864498;

// The sums t_n of one row, without the powers of that factor which y brought into them.
template <typename T, int kFeatures>
void StoreRowSums(const double (*partial)[se_ard::kPairPadding], double* sums) {
  for (int k = 0; k < kFeatures; ++k) {
    const double scale = k == 0 ? 1 : k % 2 == 1 ? kRootLog2E : kRootLog2E * kRootLog2E;
    sums[k] = SumOfPartial<T>(partial[k]) / scale;
  }
}

// kRows rows at a time share the loads of a pair's midpoint; their sums stay in registers.
template <typename T, int kQ, int kRows, bool kStore>
void PairForwardRows(const PairTile<T>& tile, Index first) {
  constexpr int kFeatures = kStore ? 2 * kQ + 1 : 1;
  const Tag<T> d;
  using VT = hn::Vec<Tag<T>>;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const Index pairs = tile.pairs;
  T features[kRows][2 * kQ];
  for (int n = 0; n < kRows; ++n) {
    for (int k = 0; k < 2 * kQ; ++k)
      features[n][k] = static_cast<T>(kRootLog2E * tile.features[(first + n) * 2 * kQ + k]);
  }
  const T* HWY_RESTRICT midpoints = tile.midpoints;
  const T* HWY_RESTRICT weights = tile.weights;
  T* HWY_RESTRICT E = kStore ? tile.E + first * pairs : nullptr;
  HWY_ALIGN double partial[kRows][kFeatures][se_ard::kPairPadding] = {};
  const Index block = std::is_same_v<T, double> ? pairs : kBlock * lanes;
  for (Index begin = 0; begin < pairs; begin += block) {
    VT sum[kRows][kFeatures];
    for (int n = 0; n < kRows; ++n) {
      for (int k = 0; k < kFeatures; ++k) sum[n][k] = hn::Zero(d);
    }
    const Index end = std::min(pairs, begin + block);
    for (Index p = begin; p < end; p += lanes) {
      VT zbar[kQ];
      for (int q = 0; q < kQ; ++q) zbar[q] = hn::Load(d, midpoints + q * pairs + p);
      const VT w = hn::Load(d, weights + p);
      for (int n = 0; n < kRows; ++n) {
        const T* f = features[n];
        VT y[kQ];
        VT exponent = hn::Zero(d);
        for (int q = 0; q < kQ; ++q) {
          y[q] = hn::MulSub(hn::Set(d, f[2 * q]), zbar[q], hn::Set(d, f[2 * q + 1]));
          exponent = hn::NegMulAdd(y[q], y[q], exponent);
        }
        const VT e = Exp2(d, exponent);
        if constexpr (kStore) {
          hn::Store(e, d, E + n * pairs + p);
          const VT we = hn::Mul(w, e);
          sum[n][0] = hn::Add(sum[n][0], we);
          for (int q = 0; q < kQ; ++q) {
            const VT wey = hn::Mul(we, y[q]);
            sum[n][2 * q + 1] = hn::Add(sum[n][2 * q + 1], wey);
            sum[n][2 * q + 2] = hn::MulAdd(wey, y[q], sum[n][2 * q + 2]);
          }
        } else {
          sum[n][0] = hn::MulAdd(w, e, sum[n][0]);
        }
      }
    }
    for (int n = 0; n < kRows; ++n) {
      for (int k = 0; k < kFeatures; ++k) AddTo(d, sum[n][k], partial[n][k]);
    }
  }
  for (int n = 0; n < kRows; ++n)
    StoreRowSums<T, kFeatures>(partial[n], tile.sums + (first + n) * kFeatures);
}

template <typename T, int kQ, bool kStore>
void PairForwardQ(const PairTile<T>& tile) {
  // Two rows only while their sums, the pair's features and the constants of Exp fit the registers.
  constexpr Index kTogether = kQ <= 4 ? 2 : 1;
  Index n = 0;
  for (; n + kTogether <= tile.rows; n += kTogether)
    PairForwardRows<T, kQ, kTogether, kStore>(tile, n);
  for (; n < tile.rows; ++n) PairForwardRows<T, kQ, 1, kStore>(tile, n);
}

template <typename T, bool kStore>
void PairForwardAs(const PairTile<T>& tile) {
  switch (tile.Q) {
    case 1:
      return PairForwardQ<T, 1, kStore>(tile);
    case 2:
      return PairForwardQ<T, 2, kStore>(tile);
    case 3:
      return PairForwardQ<T, 3, kStore>(tile);
    case 4:
      return PairForwardQ<T, 4, kStore>(tile);
    case 5:
      return PairForwardQ<T, 5, kStore>(tile);
    default:
      FATHOM_CHECK(tile.Q == se_ard::kMostPairInputs);
      return PairForwardQ<T, se_ard::kMostPairInputs, kStore>(tile);
  }
}

template <typename T>
void PairForwardAs(const PairTile<T>& tile) {
  if (tile.E != nullptr) {
    PairForwardAs<T, true>(tile);
  } else {
    PairForwardAs<T, false>(tile);
  }
}

// One pass over E; the pair sums of kCount coefficients stay in registers over the tile's rows.
template <typename T, int kCount>
void PairBackwardGroup(Index rows, Index stride, Index pairs, const T* HWY_RESTRICT coefficients,
                       const T* HWY_RESTRICT E, double* HWY_RESTRICT pair_sums) {
  const Tag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index p = 0; p < pairs; p += lanes) {
    hn::Vec<Tag<T>> sum[kCount];
    for (int k = 0; k < kCount; ++k) sum[k] = hn::Zero(d);
    for (Index n = 0; n < rows; ++n) {
      const auto e = hn::Load(d, E + n * pairs + p);
      for (int k = 0; k < kCount; ++k)
        sum[k] = hn::MulAdd(hn::Set(d, coefficients[n * stride + k]), e, sum[k]);
    }
    for (int k = 0; k < kCount; ++k) AddTo(d, sum[k], pair_sums + k * pairs + p);
  }
}

template <typename T>
void PairBackwardBlock(Index rows, Index count, Index pairs, const T* coefficients, const T* E,
                       double* pair_sums) {
  const auto as_one = [&](auto size) {
    PairBackwardGroup<T, decltype(size)::value>(rows, count, pairs, coefficients, E, pair_sums);
  };
  switch (count) {
    case 3:
      return as_one(std::integral_constant<int, 3>());
    case 5:
      return as_one(std::integral_constant<int, 5>());
    case 7:
      return as_one(std::integral_constant<int, 7>());
    case 9:
      return as_one(std::integral_constant<int, 9>());
    case 11:
      return as_one(std::integral_constant<int, 11>());
    case 13:
      return as_one(std::integral_constant<int, 13>());
    default:
      FATHOM_CHECK(count == 1);
      return as_one(std::integral_constant<int, 1>());
  }
}

template <typename T>
void PairBackwardAs(Index rows, Index count, Index pairs, const T* coefficients, const T* E,
                    double* pair_sums) {
  for (Index n = 0; n < rows; n += kBlock) {
    PairBackwardBlock(std::min(kBlock, rows - n), count, pairs, coefficients + n * count,
                      E + n * pairs, pair_sums);
  }
}

}  // namespace fathom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
// NOLINTEND(llvm-header-guard)
