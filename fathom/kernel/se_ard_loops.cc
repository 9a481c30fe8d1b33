#include "fathom/kernel/se_ard_loops.h"

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

using D = hn::CappedTag<double, kSimdPadding>;
using V = hn::Vec<D>;

// Rows `kRows` at a time share the loads of a pair's features; the row sums stay in registers.
template <int kQ, int kRows>
void PairForwardRows(Index pairs, const double* HWY_RESTRICT features,
                     const double* HWY_RESTRICT weights, const double* HWY_RESTRICT midpoints,
                     double* HWY_RESTRICT E, double* HWY_RESTRICT sums) {
  constexpr int kFeatures = 2 * kQ + 1;
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  V sum[kRows][kFeatures];
  for (int n = 0; n < kRows; ++n) {
    for (int k = 0; k < kFeatures; ++k) sum[n][k] = hn::Zero(d);
  }
  for (Index p = 0; p < pairs; p += lanes) {
    V zbar[kQ];
    V zbar2[kQ];
    for (int q = 0; q < kQ; ++q) {
      zbar[q] = hn::Load(d, midpoints + q * pairs + p);
      zbar2[q] = hn::Mul(zbar[q], zbar[q]);
    }
    const V w = hn::Load(d, weights + p);
    for (int n = 0; n < kRows; ++n) {
      const double* f = features + n * kFeatures;
      V exponent = hn::Set(d, f[0]);
      for (int q = 0; q < kQ; ++q) {
        exponent = hn::MulAdd(hn::Set(d, f[2 * q + 1]), zbar[q], exponent);
        exponent = hn::MulAdd(hn::Set(d, f[2 * q + 2]), zbar2[q], exponent);
      }
      const V e = Exp(d, exponent);
      hn::Store(e, d, E + n * pairs + p);
      const V we = hn::Mul(w, e);
      sum[n][0] = hn::Add(sum[n][0], we);
      for (int q = 0; q < kQ; ++q) {
        sum[n][2 * q + 1] = hn::MulAdd(we, zbar[q], sum[n][2 * q + 1]);
        sum[n][2 * q + 2] = hn::MulAdd(we, zbar2[q], sum[n][2 * q + 2]);
      }
    }
  }
  for (int n = 0; n < kRows; ++n) {
    for (int k = 0; k < kFeatures; ++k) {
      sums[n * kFeatures + k] = hn::GetLane(hn::SumOfLanes(d, sum[n][k]));
    }
  }
}

template <int kQ>
void PairForwardQ(Index rows, Index pairs, const double* features, const double* weights,
                  const double* midpoints, double* E, double* sums) {
  constexpr int kFeatures = 2 * kQ + 1;
  // Two rows only while their sums, the pair's features and the constants of Exp fit the registers.
  constexpr Index kTogether = kQ <= 4 ? 2 : 1;
  Index n = 0;
  for (; n + kTogether <= rows; n += kTogether) {
    PairForwardRows<kQ, kTogether>(pairs, features + n * kFeatures, weights, midpoints,
                                   E + n * pairs, sums + n * kFeatures);
  }
  for (; n < rows; ++n) {
    PairForwardRows<kQ, 1>(pairs, features + n * kFeatures, weights, midpoints, E + n * pairs,
                           sums + n * kFeatures);
  }
}

// Any Q: too many features for the registers, so each row sum takes a pass of its own over the
// row's exponentials.
void PairForwardAnyQ(Index rows, Index Q, Index pairs, const double* HWY_RESTRICT features,
                     const double* HWY_RESTRICT weights, const double* HWY_RESTRICT midpoints,
                     double* HWY_RESTRICT E, double* HWY_RESTRICT sums) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const Index count = 2 * Q + 1;
  for (Index n = 0; n < rows; ++n) {
    const double* f = features + n * count;
    double* e_row = E + n * pairs;
    V total = hn::Zero(d);
    for (Index p = 0; p < pairs; p += lanes) {
      V exponent = hn::Set(d, f[0]);
      for (Index q = 0; q < Q; ++q) {
        const V zbar = hn::Load(d, midpoints + q * pairs + p);
        exponent = hn::MulAdd(hn::MulAdd(hn::Set(d, f[2 * q + 2]), zbar, hn::Set(d, f[2 * q + 1])),
                              zbar, exponent);
      }
      const V e = Exp(d, exponent);
      hn::Store(e, d, e_row + p);
      total = hn::MulAdd(hn::Load(d, weights + p), e, total);
    }
    sums[n * count] = hn::GetLane(hn::SumOfLanes(d, total));
    for (Index q = 0; q < Q; ++q) {
      V first = hn::Zero(d);
      V second = hn::Zero(d);
      for (Index p = 0; p < pairs; p += lanes) {
        const V zbar = hn::Load(d, midpoints + q * pairs + p);
        const V wez = hn::Mul(hn::Mul(hn::Load(d, weights + p), hn::Load(d, e_row + p)), zbar);
        first = hn::Add(first, wez);
        second = hn::MulAdd(wez, zbar, second);
      }
      sums[n * count + 2 * q + 1] = hn::GetLane(hn::SumOfLanes(d, first));
      sums[n * count + 2 * q + 2] = hn::GetLane(hn::SumOfLanes(d, second));
    }
  }
}

void PairForward(Index rows, Index Q, Index pairs, const double* features, const double* weights,
                 const double* midpoints, double* E, double* sums) {
  switch (Q) {
    case 1:
      return PairForwardQ<1>(rows, pairs, features, weights, midpoints, E, sums);
    case 2:
      return PairForwardQ<2>(rows, pairs, features, weights, midpoints, E, sums);
    case 3:
      return PairForwardQ<3>(rows, pairs, features, weights, midpoints, E, sums);
    case 4:
      return PairForwardQ<4>(rows, pairs, features, weights, midpoints, E, sums);
    case 5:
      return PairForwardQ<5>(rows, pairs, features, weights, midpoints, E, sums);
    case 6:
      return PairForwardQ<6>(rows, pairs, features, weights, midpoints, E, sums);
    default:
      return PairForwardAnyQ(rows, Q, pairs, features, weights, midpoints, E, sums);
  }
}

// One pass over E per group of kCount coefficients, whose pair sums stay in registers over the rows
// of the tile.
template <int kCount>
void PairBackwardGroup(Index rows, Index stride, Index pairs,
                       const double* HWY_RESTRICT coefficients, const double* HWY_RESTRICT E,
                       double* HWY_RESTRICT pair_sums) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index p = 0; p < pairs; p += lanes) {
    V sum[kCount];
    for (int k = 0; k < kCount; ++k) sum[k] = hn::Load(d, pair_sums + k * pairs + p);
    for (Index n = 0; n < rows; ++n) {
      const V e = hn::Load(d, E + n * pairs + p);
      for (int k = 0; k < kCount; ++k) {
        sum[k] = hn::MulAdd(hn::Set(d, coefficients[n * stride + k]), e, sum[k]);
      }
    }
    for (int k = 0; k < kCount; ++k) hn::Store(sum[k], d, pair_sums + k * pairs + p);
  }
}

void PairBackward(Index rows, Index Q, Index pairs, const double* coefficients, const double* E,
                  double* pair_sums) {
  const Index count = 2 * Q + 1;
  Index k = 0;
  const auto group = [&](auto size) {
    PairBackwardGroup<decltype(size)::value>(rows, count, pairs, coefficients + k, E,
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

void GaussianRows(Index rows, Index dims, Index M, const double* HWY_RESTRICT offset,
                  const double* HWY_RESTRICT x, const double* HWY_RESTRICT s,
                  const double* HWY_RESTRICT z, double* HWY_RESTRICT k) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const Index padded = PaddedSize(M);
  for (Index n = 0; n < rows; ++n) {
    double* out = k + n * padded;
    for (Index i = 0; i < padded; i += lanes) {
      V sum = hn::Zero(d);
      for (Index q = 0; q < dims; ++q) {
        const V difference = hn::Sub(hn::Set(d, x[n * dims + q]), hn::Load(d, z + q * padded + i));
        const V scaled =
            s == nullptr ? difference : hn::Mul(difference, hn::Set(d, s[n * dims + q]));
        sum = hn::MulAdd(scaled, difference, sum);
      }
      hn::Store(Exp(d, hn::MulAdd(hn::Set(d, -0.5), sum, hn::Set(d, offset[n]))), d, out + i);
    }
    for (Index i = M; i < padded; ++i) out[i] = 0;
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

HWY_EXPORT(PairForward);
HWY_EXPORT(PairBackward);
HWY_EXPORT(GaussianRows);
HWY_EXPORT(RowsTimesMatrix);
HWY_EXPORT(SymmetricRankUpdate);

namespace se_ard {

void PairForward(Index rows, Index Q, Index pairs, const double* features, const double* weights,
                 const double* midpoints, double* E, double* sums) {
  HWY_DYNAMIC_DISPATCH(fathom::PairForward)(rows, Q, pairs, features, weights, midpoints, E, sums);
}

void PairBackward(Index rows, Index Q, Index pairs, const double* coefficients, const double* E,
                  double* pair_sums) {
  HWY_DYNAMIC_DISPATCH(fathom::PairBackward)(rows, Q, pairs, coefficients, E, pair_sums);
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
