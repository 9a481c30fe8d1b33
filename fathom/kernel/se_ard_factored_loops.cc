#include "fathom/base/aligned.h"
#include "fathom/kernel/se_ard_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fathom/kernel/se_ard_factored_loops.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>
// After foreach_target.h: compiled once per target.
#include "fathom/base/simd_exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using se_ard::FactoredInput;
using se_ard::FactoredRow;
using se_ard::FactoredSlopes;
using se_ard::TrianglePlace;
using se_ard::TriangleWidth;

using Doubles = hn::CappedTag<double, kSimdPadding>;
using DoubleVec = hn::Vec<Doubles>;

// So many rows of the triangle share what they load.
constexpr int kTriangleRows = 4;

// Rows i to i + 3 of the triangle times kVectors vectors of columns.
template <int kVectors, bool kStore>
HWY_INLINE DoubleVec FactoredBlock(const FactoredRow& row, Index i, Index j, DoubleVec total) {
  const Doubles d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const Index padded = PaddedSize(row.M);
  DoubleVec exponent[kTriangleRows][kVectors];
  for (int v = 0; v < kVectors; ++v) {
    const DoubleVec column = hn::Load(d, row.log_k + j + v * lanes);
    for (int r = 0; r < kTriangleRows; ++r)
      exponent[r][v] = hn::Add(hn::Set(d, row.log_k[i + r]), column);
  }
  for (Index q = 0; q < row.inputs; ++q) {
    DoubleVec zeta[kVectors];
    for (int v = 0; v < kVectors; ++v) zeta[v] = hn::Load(d, row.zeta + q * padded + j + v * lanes);
    for (int r = 0; r < kTriangleRows; ++r) {
      const DoubleVec slope = hn::Set(d, row.slope[q * padded + i + r]);
      for (int v = 0; v < kVectors; ++v)
        exponent[r][v] = hn::MulAdd(slope, zeta[v], exponent[r][v]);
    }
  }
  for (int r = 0; r < kTriangleRows; ++r) {
    const Index place = TrianglePlace(i + r, j);
    for (int v = 0; v < kVectors; ++v) {
      // Large terms that cancel may leave a little more than 0. NaN stays.
      const DoubleVec zero = hn::Zero(d);
      const DoubleVec at_most_zero =
          hn::IfThenElse(hn::Gt(exponent[r][v], zero), zero, exponent[r][v]);
      const DoubleVec e = Exp2(d, at_most_zero);
      if constexpr (kStore) hn::Store(e, d, row.E + place + v * lanes);
      total = hn::MulAdd(hn::Load(d, row.weights + place + v * lanes), e, total);
    }
  }
  return total;
}

template <bool kStore>
double FactoredForwardAs(const FactoredRow& row) {
  const Doubles d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  DoubleVec total = hn::Zero(d);
  for (Index i = 0; i < row.M; i += kTriangleRows) {
    const Index width = TriangleWidth(i);
    Index j = 0;
    for (; j + 2 * lanes <= width; j += 2 * lanes)
      total = FactoredBlock<2, kStore>(row, i, j, total);
    for (; j < width; j += lanes) total = FactoredBlock<1, kStore>(row, i, j, total);
  }
  return hn::GetLane(hn::SumOfLanes(d, total));
}

double FactoredForward(const FactoredRow& row) {
  return row.E != nullptr ? FactoredForwardAs<true>(row) : FactoredForwardAs<false>(row);
}

void FactoredBackward(const FactoredSlopes& row) {
  const Doubles d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const Index padded = PaddedSize(row.M);
  const DoubleVec g = hn::Set(d, row.g);
  for (Index k = 0; k < row.columns * padded; k += lanes)
    hn::Store(hn::Zero(d), d, row.products + k);
  for (Index i = 0; i < row.M; i += kTriangleRows) {
    const Index width = TriangleWidth(i);
    for (int r = 0; r < kTriangleRows; ++r) {
      const Index place = TrianglePlace(i + r, 0);
      for (Index j = 0; j < width; j += lanes) {
        const DoubleVec ge = hn::Mul(g, hn::Load(d, row.E + place + j));
        double* const sum = row.pair_sums + place + j;
        hn::Store(hn::Add(hn::Load(d, sum), ge), d, sum);
        hn::Store(hn::Mul(hn::Load(d, row.weights + place + j), ge), d,
                  row.scratch + r * padded + j);
      }
    }
    // What is below the diagonal is above it, too.
    for (Index q = 0; q < row.columns; ++q) {
      const double* HWY_RESTRICT column = row.column + q * padded;
      double* HWY_RESTRICT product = row.products + q * padded;
      DoubleVec across[kTriangleRows], at[kTriangleRows];
      for (int r = 0; r < kTriangleRows; ++r) {
        across[r] = hn::Zero(d);
        at[r] = hn::Set(d, column[i + r]);
      }
      for (Index j = 0; j < width; j += lanes) {
        const DoubleVec c = hn::Load(d, column + j);
        DoubleVec down = hn::Load(d, product + j);
        for (int r = 0; r < kTriangleRows; ++r) {
          const DoubleVec G = hn::Load(d, row.scratch + r * padded + j);
          across[r] = hn::MulAdd(G, c, across[r]);
          down = hn::MulAdd(G, at[r], down);
        }
        hn::Store(down, d, product + j);
      }
      for (int r = 0; r < kTriangleRows; ++r)
        product[i + r] += hn::GetLane(hn::SumOfLanes(d, across[r]));
    }
  }
}

template <bool kFactorAlone>
se_ard::FactoredInputSums InputBackwardAs(const FactoredInput& input) {
  const Doubles d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const DoubleVec mu = hn::Set(d, input.mu);
  const DoubleVec down = hn::Set(d, -2 * input.alpha);
  const DoubleVec beta = hn::Set(d, input.beta);
  DoubleVec d_mu = hn::Zero(d), d_alpha = hn::Zero(d), d_beta = hn::Zero(d);
  for (Index i = 0; i < PaddedSize(input.M); i += lanes) {
    const DoubleVec zeta = hn::Sub(hn::Load(d, input.z + i), mu);
    const DoubleVec k_zeta = hn::Mul(hn::Load(d, input.d_log_k + i), zeta);
    DoubleVec d_zeta = hn::Mul(down, k_zeta);
    d_alpha = hn::NegMulAdd(k_zeta, zeta, d_alpha);
    if constexpr (!kFactorAlone) {
      const DoubleVec G_zeta = hn::Load(d, input.G_zeta + i);
      d_zeta = hn::MulAdd(beta, G_zeta, d_zeta);
      d_beta = hn::MulAdd(zeta, G_zeta, d_beta);
    }
    hn::Store(hn::Add(hn::Load(d, input.d_z + i), d_zeta), d, input.d_z + i);
    d_mu = hn::Sub(d_mu, d_zeta);
  }
  return {.mu = hn::GetLane(hn::SumOfLanes(d, d_mu)),
          .alpha = hn::GetLane(hn::SumOfLanes(d, d_alpha)),
          .beta = 0.5 * hn::GetLane(hn::SumOfLanes(d, d_beta))};
}

se_ard::FactoredInputSums FactoredInputBackward(const FactoredInput& input) {
  return input.G_zeta == nullptr ? InputBackwardAs<true>(input) : InputBackwardAs<false>(input);
}

void SquaredDistances(Index D, Index M, const double* x, const double* s, const double* z,
                      double* out) {
  const Doubles d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const Index padded = PaddedSize(M);
  for (Index i = 0; i < padded; i += lanes) {
    DoubleVec sum = hn::Zero(d);
    for (Index q = 0; q < D; ++q) {
      const DoubleVec difference = hn::Sub(hn::Set(d, x[q]), hn::Load(d, z + q * padded + i));
      sum = hn::MulAdd(hn::Mul(difference, hn::Set(d, s[q])), difference, sum);
    }
    hn::Store(sum, d, out + i);
  }
}

}  // namespace fathom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom {

HWY_EXPORT(FactoredForward);
HWY_EXPORT(FactoredBackward);
HWY_EXPORT(FactoredInputBackward);
HWY_EXPORT(SquaredDistances);

namespace se_ard {

double FactoredForward(const FactoredRow& row) {
  return HWY_DYNAMIC_DISPATCH(fathom::FactoredForward)(row);
}

void FactoredBackward(const FactoredSlopes& row) {
  HWY_DYNAMIC_DISPATCH(fathom::FactoredBackward)(row);
}

FactoredInputSums FactoredInputBackward(const FactoredInput& input) {
  return HWY_DYNAMIC_DISPATCH(fathom::FactoredInputBackward)(input);
}

void SquaredDistances(Index D, Index M, const double* x, const double* s, const double* z,
                      double* out) {
  HWY_DYNAMIC_DISPATCH(fathom::SquaredDistances)(D, M, x, s, z, out);
}

}  // namespace se_ard
}  // namespace fathom
#endif  // HWY_ONCE
