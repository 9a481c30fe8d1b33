#include "fathom/kernel/se_ard_loops.h"

#include "fathom/base/aligned.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fathom/kernel/se_ard_loops.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>
// After foreach_target.h: compiled once per target.
#include "fathom/base/simd_exp-inl.h"
#include "fathom/kernel/se_ard_pair_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using se_ard::GaussianTile;
using se_ard::Psi1Row;

void PairForwardDouble(const PairTile<double>& tile) { PairForwardAs<double>(tile); }
void PairForwardFloat(const PairTile<float>& tile) { PairForwardAs<float>(tile); }
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
HWY_INLINE void GaussianBlock(const GaussianTile& tile, Index first) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const Index dims = tile.D;
  const Index padded = PaddedSize(tile.M);
  const double* HWY_RESTRICT offset = tile.offset + first;
  const double* HWY_RESTRICT x = tile.x + first * dims;
  const double* HWY_RESTRICT s = kScaled ? tile.s + first * dims : nullptr;
  const double* HWY_RESTRICT z = tile.z;
  double* HWY_RESTRICT k = tile.k + first * padded;
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
HWY_INLINE void GaussianRowsAs(const GaussianTile& tile) {
  constexpr Index kRowBlock = 4;
  const Index padded = PaddedSize(tile.M);
  Index n = 0;
  for (; n + kRowBlock <= tile.rows; n += kRowBlock) GaussianBlock<kRowBlock, kScaled>(tile, n);
  for (; n < tile.rows; ++n) GaussianBlock<1, kScaled>(tile, n);
  for (n = 0; n < tile.rows; ++n) {
    for (Index i = tile.M; i < padded; ++i) tile.k[n * padded + i] = 0;
  }
}

void GaussianRows(const GaussianTile& tile) {
  if (tile.s == nullptr) {
    GaussianRowsAs<false>(tile);
  } else {
    GaussianRowsAs<true>(tile);
  }
}

double Psi1Backward(const Psi1Row& row) {
  const hn::CappedTag<double, kSimdPadding> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const Index padded = PaddedSize(row.M);
  auto total = hn::Zero(d);
  for (Index i = 0; i < padded; i += lanes) {
    auto rho = hn::Set(d, row.base);
    for (Index q = 0; row.kappa != nullptr && q < row.D; ++q) {
      const auto off = hn::Sub(hn::Load(d, row.z + q * padded + i), hn::Set(d, row.mu[q]));
      rho = hn::MulAdd(hn::Set(d, row.kappa[q]), off, rho);
    }
    const auto psi1 = hn::Load(d, row.psi1 + i);
    const auto h = hn::Mul(psi1, hn::Load(d, row.a + i));
    const auto t = hn::Mul(h, rho);
    hn::Store(h, d, row.h + i);
    hn::Store(t, d, row.t + i);
    hn::Store(hn::MulAdd(psi1, rho, hn::Load(d, row.a_sums + i)), d, row.a_sums + i);
    total = hn::Add(total, t);
  }
  for (Index q = 0; q < row.D; ++q) {
    const auto mu = hn::Set(d, row.mu[q]);
    const auto e = hn::Set(d, row.e[q]);
    const auto kappa = hn::Set(d, row.kappa != nullptr ? row.kappa[q] : 0.0);
    const double* z_q = row.z + q * padded;
    double* z_sums = row.z_sums + q * padded;
    auto tz = hn::Zero(d), tzz = hn::Zero(d), hz = hn::Zero(d);
    for (Index i = 0; i < padded; i += lanes) {
      const auto z = hn::Load(d, z_q + i);
      const auto t = hn::Load(d, row.t + i);
      const auto h = hn::Load(d, row.h + i);
      const auto part = hn::Mul(t, z);
      tz = hn::Add(tz, part);
      tzz = hn::MulAdd(part, z, tzz);
      hz = hn::MulAdd(h, z, hz);
      const auto slope = hn::MulAdd(kappa, h, hn::Load(d, z_sums + i));
      hn::Store(hn::MulAdd(hn::Mul(e, t), hn::Sub(mu, z), slope), d, z_sums + i);
    }
    row.sums[3 * q] = hn::GetLane(hn::SumOfLanes(d, tz));
    row.sums[3 * q + 1] = hn::GetLane(hn::SumOfLanes(d, tzz));
    row.sums[3 * q + 2] = hn::GetLane(hn::SumOfLanes(d, hz));
  }
  return hn::GetLane(hn::SumOfLanes(d, total));
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
HWY_EXPORT(Psi1Backward);
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

void GaussianRows(const GaussianTile& tile) { HWY_DYNAMIC_DISPATCH(fathom::GaussianRows)(tile); }

double Psi1Backward(const Psi1Row& row) { return HWY_DYNAMIC_DISPATCH(fathom::Psi1Backward)(row); }

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
