#include "fathom/kernel/se_ard_loops.h"

#include <algorithm>
#include <type_traits>

#include "fathom/base/aligned.h"
#include "fathom/base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fathom/kernel/se_ard_loops.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>
// After foreach_target.h: compiled once per target.
#include "fathom/base/simd_exp-inl.h"

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
  for (int n = 0; n < kRows; ++n) {
    double* sums = tile.sums + (first + n) * kFeatures;
    for (int k = 0; k < kFeatures; ++k) {
      const double scale = k == 0 ? 1 : k % 2 == 1 ? kRootLog2E : kRootLog2E * kRootLog2E;
      sums[k] = SumOfPartial<T>(partial[n][k]) / scale;
    }
  }
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

// Any Q: too many features for the registers, so each row sum takes a pass of its own over the
// row's exponentials.
template <typename T, bool kStore>
void PairForwardAnyQ(const PairTile<T>& tile) {
  const Tag<T> d;
  using VT = hn::Vec<Tag<T>>;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const Index Q = tile.Q;
  const Index pairs = tile.pairs;
  const Index block = std::is_same_v<T, double> ? pairs : kBlock * lanes;
  // sum_p term(p), where term gives a vector of T.
  const auto sum_over_pairs = [&](auto term) {
    HWY_ALIGN double partial[se_ard::kPairPadding] = {};
    for (Index begin = 0; begin < pairs; begin += block) {
      VT sum = hn::Zero(d);
      const Index end = std::min(pairs, begin + block);
      for (Index p = begin; p < end; p += lanes) sum = hn::Add(sum, term(p));
      AddTo(d, sum, partial);
    }
    return SumOfPartial<T>(partial);
  };
  for (Index n = 0; n < tile.rows; ++n) {
    const T* f = tile.features + n * 2 * Q;
    double* sums = tile.sums + n * (kStore ? 2 * Q + 1 : 1);
    const auto y = [&](Index q, Index p) {
      return hn::MulSub(hn::Set(d, f[2 * q]), hn::Load(d, tile.midpoints + q * pairs + p),
                        hn::Set(d, f[2 * q + 1]));
    };
    sums[0] = sum_over_pairs([&](Index p) {
      VT exponent = hn::Zero(d);
      for (Index q = 0; q < Q; ++q) {
        const VT y_q = y(q, p);
        exponent = hn::NegMulAdd(y_q, y_q, exponent);
      }
      const VT e = Exp2(d, hn::Mul(exponent, hn::Set(d, static_cast<T>(kRootLog2E * kRootLog2E))));
      if constexpr (kStore) hn::Store(e, d, tile.E + n * pairs + p);
      return hn::Mul(hn::Load(d, tile.weights + p), e);
    });
    if constexpr (kStore) {
      const auto we = [&](Index p) {
        return hn::Mul(hn::Load(d, tile.weights + p), hn::Load(d, tile.E + n * pairs + p));
      };
      for (Index q = 0; q < Q; ++q) {
        sums[2 * q + 1] = sum_over_pairs([&](Index p) { return hn::Mul(we(p), y(q, p)); });
        sums[2 * q + 2] = sum_over_pairs([&](Index p) {
          const VT y_q = y(q, p);
          return hn::Mul(we(p), hn::Mul(y_q, y_q));
        });
      }
    }
  }
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
    case 6:
      return PairForwardQ<T, 6, kStore>(tile);
    default:
      return PairForwardAnyQ<T, kStore>(tile);
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
void PairForwardDouble(const PairTile<double>& tile) { PairForwardAs<double>(tile); }
void PairForwardFloat(const PairTile<float>& tile) { PairForwardAs<float>(tile); }

// One pass over E per group of kCount coefficients, whose pair sums stay in registers over the rows
// of the tile.
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
  Index k = 0;
  const auto group = [&](auto size) {
    PairBackwardGroup<T, decltype(size)::value>(rows, count, pairs, coefficients + k, E,
                                                pair_sums + k * pairs);
    k += decltype(size)::value;
  };
  while (count - k > 13) group(std::integral_constant<int, 8>());
  while (k < count) {
    switch (count - k) {
      case 13:
        group(std::integral_constant<int, 13>());
        break;
      case 11:
        group(std::integral_constant<int, 11>());
        break;
      case 9:
        group(std::integral_constant<int, 9>());
        break;
      case 7:
        group(std::integral_constant<int, 7>());
        break;
      case 5:
        group(std::integral_constant<int, 5>());
        break;
      case 3:
        group(std::integral_constant<int, 3>());
        break;
      default:
        group(std::integral_constant<int, 1>());
        break;
    }
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
void PairBackwardDouble(Index rows, Index count, Index pairs, const double* coefficients,
                        const double* E, double* pair_sums) {
  PairBackwardAs(rows, count, pairs, coefficients, E, pair_sums);
}
void PairBackwardFloat(Index rows, Index count, Index pairs, const float* coefficients,
                       const float* E, double* pair_sums) {
  PairBackwardAs(rows, count, pairs, coefficients, E, pair_sums);
}

// kRows rows at a time share the loads of z, which for many inputs come from the second-level
// cache: the first layer of 90 inputs, M = 100, 64 rows goes from 164 to 143 us. A row's bits do
// not depend on the rows beside it.
template <int kRows, bool kScaled>
HWY_INLINE void GaussianBlock(Index dims, Index padded, const double* HWY_RESTRICT offset,
                              const double* HWY_RESTRICT x, const double* HWY_RESTRICT s,
                              const double* HWY_RESTRICT z, double* HWY_RESTRICT k) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index i = 0; i < padded; i += lanes) {
    V sum[kRows];
    for (int n = 0; n < kRows; ++n) sum[n] = hn::Zero(d);
    for (Index q = 0; q < dims; ++q) {
      const V zq = hn::Load(d, z + q * padded + i);
      for (int n = 0; n < kRows; ++n) {
        const V difference = hn::Sub(hn::Set(d, x[n * dims + q]), zq);
        const V scaled = kScaled ? hn::Mul(difference, hn::Set(d, s[n * dims + q])) : difference;
        sum[n] = hn::MulAdd(scaled, difference, sum[n]);
      }
    }
    for (int n = 0; n < kRows; ++n) {
      hn::Store(Exp(d, hn::MulAdd(hn::Set(d, -0.5), sum[n], hn::Set(d, offset[n]))), d,
                k + n * padded + i);
    }
  }
}

template <bool kScaled>
HWY_INLINE void GaussianRowsAs(Index rows, Index dims, Index M, const double* offset,
                               const double* x, const double* s, const double* z, double* k) {
  constexpr Index kRowBlock = 4;
  const Index padded = PaddedSize(M);
  Index n = 0;
  const auto scale_of = [&](Index row) { return kScaled ? s + row * dims : nullptr; };
  for (; n + kRowBlock <= rows; n += kRowBlock) {
    GaussianBlock<kRowBlock, kScaled>(dims, padded, offset + n, x + n * dims, scale_of(n), z,
                                      k + n * padded);
  }
  for (; n < rows; ++n) {
    GaussianBlock<1, kScaled>(dims, padded, offset + n, x + n * dims, scale_of(n), z,
                              k + n * padded);
  }
  for (n = 0; n < rows; ++n) {
    for (Index i = M; i < padded; ++i) k[n * padded + i] = 0;
  }
}

void GaussianRows(Index rows, Index dims, Index M, const double* offset, const double* x,
                  const double* s, const double* z, double* k) {
  if (s == nullptr) {
    GaussianRowsAs<false>(rows, dims, M, offset, x, s, z, k);
  } else {
    GaussianRowsAs<true>(rows, dims, M, offset, x, s, z, k);
  }
}

// kRows rows times kVectors vectors of columns, accumulated over i in registers.
template <int kRows, int kVectors>
HWY_INLINE void ProductBlock(Index M, Index padded, const double* HWY_RESTRICT k,
                             const double* HWY_RESTRICT S, double* HWY_RESTRICT U) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  V sum[kRows][kVectors];
  for (int n = 0; n < kRows; ++n) {
    for (int v = 0; v < kVectors; ++v) sum[n][v] = hn::Zero(d);
  }
  for (Index i = 0; i < M; ++i) {
    V column[kVectors];
    for (int v = 0; v < kVectors; ++v) column[v] = hn::Load(d, S + i * padded + v * lanes);
    for (int n = 0; n < kRows; ++n) {
      const V factor = hn::Set(d, k[n * padded + i]);
      for (int v = 0; v < kVectors; ++v) sum[n][v] = hn::MulAdd(factor, column[v], sum[n][v]);
    }
  }
  for (int n = 0; n < kRows; ++n) {
    for (int v = 0; v < kVectors; ++v) hn::Store(sum[n][v], d, U + n * padded + v * lanes);
  }
}

template <int kVectors>
HWY_INLINE void ProductColumns(Index rows, Index M, Index padded, const double* k, const double* S,
                               double* U) {
  Index n = 0;
  for (; n + 4 <= rows; n += 4)
    ProductBlock<4, kVectors>(M, padded, k + n * padded, S, U + n * padded);
  for (; n < rows; ++n) ProductBlock<1, kVectors>(M, padded, k + n * padded, S, U + n * padded);
}

void RowsTimesMatrix(Index rows, Index M, const double* k, const double* S, double* U) {
  const Index padded = PaddedSize(M);
  const auto lanes = static_cast<Index>(hn::Lanes(D()));
  Index j = 0;
  for (; j + 3 * lanes <= padded; j += 3 * lanes)
    ProductColumns<3>(rows, M, padded, k, S + j, U + j);
  for (; j < padded; j += lanes) ProductColumns<1>(rows, M, padded, k, S + j, U + j);
}

// C[i0..i0+kI) x (kVectors vectors of j) += sum_n left_n,i right_n,j.
template <int kI, int kVectors>
HWY_INLINE void RankBlock(Index rows, Index padded, const double* HWY_RESTRICT left,
                          const double* HWY_RESTRICT right, double* HWY_RESTRICT C) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  V sum[kI][kVectors];
  for (int i = 0; i < kI; ++i) {
    for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::Load(d, C + i * padded + v * lanes);
  }
  for (Index n = 0; n < rows; ++n) {
    V row[kVectors];
    for (int v = 0; v < kVectors; ++v) row[v] = hn::Load(d, right + n * padded + v * lanes);
    for (int i = 0; i < kI; ++i) {
      const V factor = hn::Set(d, left[n * padded + i]);
      for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::MulAdd(factor, row[v], sum[i][v]);
    }
  }
  for (int i = 0; i < kI; ++i) {
    for (int v = 0; v < kVectors; ++v) hn::Store(sum[i][v], d, C + i * padded + v * lanes);
  }
}

template <int kI>
HWY_INLINE void RankRows(Index rows, Index padded, Index i, const double* left, const double* right,
                         double* C) {
  const auto lanes = static_cast<Index>(hn::Lanes(D()));
  const Index end = i + kI;  // columns j < end are needed
  Index j = 0;
  for (; j + lanes < end && j + 3 * lanes <= padded; j += 3 * lanes) {
    RankBlock<kI, 3>(rows, padded, left + i, right + j, C + i * padded + j);
  }
  for (; j < end; j += lanes)
    RankBlock<kI, 1>(rows, padded, left + i, right + j, C + i * padded + j);
}

void SymmetricRankUpdate(Index rows, Index M, const double* g, const double* k, double* scratch,
                         double* C) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const Index padded = PaddedSize(M);
  for (Index n = 0; n < rows; ++n) {
    const V factor = hn::Set(d, g[n]);
    for (Index i = 0; i < padded; i += lanes) {
      hn::Store(hn::Mul(factor, hn::Load(d, k + n * padded + i)), d, scratch + n * padded + i);
    }
  }
  Index i = 0;
  for (; i + 4 <= M; i += 4) RankRows<4>(rows, padded, i, scratch, k, C);
  for (; i < M; ++i) RankRows<1>(rows, padded, i, scratch, k, C);
}

}  // namespace fathom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom {

HWY_EXPORT(PairForwardDouble);
HWY_EXPORT(PairForwardFloat);
HWY_EXPORT(PairBackwardDouble);
HWY_EXPORT(PairBackwardFloat);
HWY_EXPORT(GaussianRows);
HWY_EXPORT(RowsTimesMatrix);
HWY_EXPORT(SymmetricRankUpdate);

namespace se_ard {

void PairForward(const PairTile<double>& tile) {
  HWY_DYNAMIC_DISPATCH(fathom::PairForwardDouble)(tile);
}
void PairForward(const PairTile<float>& tile) {
  HWY_DYNAMIC_DISPATCH(fathom::PairForwardFloat)(tile);
}

void PairBackward(Index rows, Index count, Index pairs, const double* coefficients, const double* E,
                  double* pair_sums) {
  HWY_DYNAMIC_DISPATCH(fathom::PairBackwardDouble)(rows, count, pairs, coefficients, E, pair_sums);
}
void PairBackward(Index rows, Index count, Index pairs, const float* coefficients, const float* E,
                  double* pair_sums) {
  HWY_DYNAMIC_DISPATCH(fathom::PairBackwardFloat)(rows, count, pairs, coefficients, E, pair_sums);
}

void GaussianRows(Index rows, Index D, Index M, const double* offset, const double* x,
                  const double* s, const double* z, double* k) {
  HWY_DYNAMIC_DISPATCH(fathom::GaussianRows)(rows, D, M, offset, x, s, z, k);
}

void RowsTimesMatrix(Index rows, Index M, const double* k, const double* S, double* U) {
  HWY_DYNAMIC_DISPATCH(fathom::RowsTimesMatrix)(rows, M, k, S, U);
}

void SymmetricRankUpdate(Index rows, Index M, const double* g, const double* k, double* scratch,
                         double* C) {
  HWY_DYNAMIC_DISPATCH(fathom::SymmetricRankUpdate)(rows, M, g, k, scratch, C);
}

}  // namespace se_ard
}  // namespace fathom
#endif  // HWY_ONCE
