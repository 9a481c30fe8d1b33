#include <algorithm>
#include <cmath>
#include <type_traits>

#include "fathom/kernel/se_ard_loops.h"
#include "fathom/kernel/se_ard_projection.h"
#include "fathom/kernel/se_ard_psi1.h"

namespace fathom::se_ard {

namespace {

struct UncertainSums {
  UncertainSums(const Shape& shape, Index pairs, Arrays arrays)
      : pair(arrays.Take((2 * shape.D + 1) * pairs)), psi1(shape, &arrays), size(arrays.size()) {}
  double* pair;  // [2D+1, pairs]  see PairBackward
  Psi1Sums psi1;
  Index size;
};

}  // namespace

template <typename Real>
struct UncertainRows::Tape {
  Tape(const UncertainRows& of, const Shape& shape, Index rows, Arrays arrays)
      : psi2(of.backward_ ? arrays.Take<Real>(rows * of.pairs_) : nullptr),
        psi1(shape, rows, &arrays),
        features(arrays.Take<Real>(rows * (2 * shape.D + 1))),
        row_sums(arrays.Take(rows * (of.backward_ ? 2 * shape.D + 1 : 1))),
        prefactor2(arrays.Take(rows)),
        size(arrays.size()) {}
  Real* psi2;  // [rows, pairs]  the exponential alone, or null: see se_ard_loops.h
  Psi1Tape psi1;
  Real* features;      // [rows, 2D]  in the backward pass [rows, 2D+1], coefficients of pair sums
  double* row_sums;    // [rows, 2D+1], or [rows] if there is no backward pass
  double* prefactor2;  // [rows]  prod (1 + 2 s/l^2)^-1/2
  Index size;
};

void UncertainRows::Prepare(const Shape& shape, const LatentFunction& function,
                            const ProjectionOptions& options) {
  precision_ = options.precision;
  backward_ = options.backward;
  variance_ = options.variance || options.backward;
  const Index M = shape.M;
  const Index D = shape.D;
  pairs_ = (M * (M + 1) / 2 + kPairPadding - 1) / kPairPadding * kPairPadding;
  midpoints_.assign(static_cast<std::size_t>(D * pairs_), 0.0);
  decay_.assign(static_cast<std::size_t>(pairs_), 0.0);
  weights_.assign(static_cast<std::size_t>(pairs_), 0.0);
  Index p = 0;
  for (Index i = 0; i < M; ++i) {
    for (Index j = 0; j <= i; ++j, ++p) {
      double distance = 0;
      for (Index q = 0; q < D; ++q) {
        const double difference = (function.Z(i, q) - function.Z(j, q)) / shape.l[q];
        distance += difference * difference;
      }
      decay_[p] = shape.variance * shape.variance * std::exp(-0.25 * distance);
      weights_[p] = decay_[p] * (i == j ? 1 : 2) * (shape.a[i] * shape.a[j] - function.S(i, j));
      for (Index q = 0; q < D; ++q)
        midpoints_[q * pairs_ + p] = 0.5 * (function.Z(i, q) + function.Z(j, q));
    }
  }
  if (precision_ == Precision::kMixed) {
    midpoints_float_.assign(midpoints_.begin(), midpoints_.end());
    weights_float_.assign(weights_.begin(), weights_.end());
  }
}

template <typename Real>
UncertainRows::PairArraysOf<Real> UncertainRows::PairArrays() const {
  if constexpr (std::is_same_v<Real, double>) {
    return {weights_.data(), midpoints_.data()};
  } else {
    return {weights_float_.data(), midpoints_float_.data()};
  }
}

Index UncertainRows::TapeSize(const Shape& shape, Index rows) const {
  return precision_ == Precision::kMixed ? Tape<float>(*this, shape, rows, Arrays(nullptr)).size
                                         : Tape<double>(*this, shape, rows, Arrays(nullptr)).size;
}

Index UncertainRows::SumsSize(const Shape& shape) const {
  return UncertainSums(shape, pairs_, Arrays(nullptr)).size;
}

void UncertainRows::Forward(const Shape& shape, const Psi1& psi1, const RowsIn& x, double* tape,
                            double* m, double* v) const {
  if (precision_ == Precision::kMixed) {
    ForwardAs<float>(shape, psi1, x, tape, m, v);
  } else {
    ForwardAs<double>(shape, psi1, x, tape, m, v);
  }
}

void UncertainRows::Backward(const Shape& shape, const Psi1& psi1, const RowsIn& x, double* tape,
                             const RowSlopes& d_out, double* sums, const InputSlopes& d_x) const {
  if (precision_ == Precision::kMixed) {
    BackwardAs<float>(shape, psi1, x, tape, d_out, sums, d_x);
  } else {
    BackwardAs<double>(shape, psi1, x, tape, d_out, sums, d_x);
  }
}

template <typename Real>
void UncertainRows::ForwardAs(const Shape& shape, const Psi1& psi1, const RowsIn& x,
                              double* tape_memory, double* m, double* v) const {
  const auto [rows, mu, s] = x;
  const Index D = shape.D;
  const Tape<Real> tape(*this, shape, rows, Arrays(tape_memory));
  for (Index n = 0; n < rows; ++n) {
    Real* f = tape.features + n * 2 * D;
    double stretch = 1;
    for (Index q = 0; q < D; ++q) {
      const double l2 = shape.l[q] * shape.l[q];
      const double c = 1 / (l2 + 2 * s[n * D + q]);
      stretch *= l2 * c;
      const double root = std::sqrt(c);
      f[2 * q] = static_cast<Real>(root);
      f[2 * q + 1] = static_cast<Real>(root * mu[n * D + q]);
    }
    tape.prefactor2[n] = std::sqrt(stretch);
  }
  psi1.Forward(shape, x, tape.psi1);
  // [psi2], contracted with its weights as it is computed.
  const auto [weights, midpoints] = PairArrays<Real>();
  const Index stride = backward_ ? 2 * D + 1 : 1;
  if (variance_) {
    PairForward(PairTile<Real>{rows, D, pairs_, tape.features, weights, midpoints, tape.psi2,
                               tape.row_sums});
  } else {
    std::fill_n(tape.row_sums, rows * stride, 0.0);
  }
  for (Index n = 0; n < rows; ++n)
    psi1.Moments(shape, x, n, tape.psi1, tape.prefactor2[n] * tape.row_sums[n * stride], m, v);
}

template <typename Real>
void UncertainRows::BackwardAs(const Shape& shape, const Psi1& psi1, const RowsIn& x,
                               double* tape_memory, const RowSlopes& d_out, double* sums_memory,
                               const InputSlopes& d_x) const {
  const Index D = shape.D;
  const Tape<Real> tape(*this, shape, x.rows, Arrays(tape_memory));
  const UncertainSums sums(shape, pairs_, Arrays(sums_memory));
  for (Index n = 0; n < x.rows; ++n) {
    const Psi1Down row = psi1.Backward(shape, x, n, tape.psi1, d_out, sums.psi1);
    Real* f = tape.features + n * (2 * D + 1);
    const double* r = tape.row_sums + n * (2 * D + 1);
    const double g_psi2 = row.d_v * tape.prefactor2[n];
    const double psi2_share = g_psi2 * r[0];
    sums.psi1.log_variance[0] += row.T + 2 * psi2_share + row.d_v * shape.variance;
    for (Index q = 0; q < D; ++q) {
      InputSlope slope = row.Through(q);
      // psi2: exponent -y^2, y = c^1/2 (zbar - mu), and prefactor (l^2 c)^1/2.
      const double l2 = shape.l[q] * shape.l[q];
      const double c = 1 / (l2 + 2 * row.s[q]);
      const double c_d_c = -g_psi2 * r[2 * q + 2];
      slope.mean += 2 * g_psi2 * std::sqrt(c) * r[2 * q + 1];
      slope.var += -2 * c * c_d_c - c * psi2_share;
      slope.log_l += -2 * l2 * c * c_d_c + psi2_share * (1 - c * l2);
      sums.psi1.log_l[q] += slope.log_l;
      if (d_x.mu != nullptr) d_x.mu[n * D + q] += slope.mean;
      if (d_x.s != nullptr) d_x.s[n * D + q] += slope.var;
      f[2 * q + 1] = static_cast<Real>(g_psi2 * c * row.mu[q]);
      f[2 * q + 2] = static_cast<Real>(g_psi2 * c);
    }
    f[0] = static_cast<Real>(g_psi2);
  }
  PairBackward(x.rows, 2 * D + 1, pairs_, tape.features, tape.psi2, sums.pair);
}

void UncertainRows::Finish(const Shape& shape, const Psi1& psi1, const double* sums_memory,
                           LatentFunctionGradient* gradient) const {
  const UncertainSums sums(shape, pairs_,
                           Arrays(const_cast<double*>(sums_memory)));  // NOLINT: read only
  const Index D = shape.D;
  Psi1::Finish(shape, sums.psi1, gradient);
  Index p = 0;
  for (Index i = 0; i < shape.M; ++i) {
    for (Index j = 0; j <= i; ++j, ++p) {
      AddPairSlope(shape, i, j, decay_[p] * sums.pair[p], gradient);
      const double share = weights_[p] * sums.pair[p];
      for (Index q = 0; q < D; ++q) {
        const double* const z = psi1.z() + q * shape.padded;
        const double difference = z[i] - z[j];
        const double scaled = difference / (2 * shape.l[q] * shape.l[q]);
        gradient->theta[1 + q] += share * difference * scaled / shape.l[q];
        const double d_midpoint =
            weights_[p] * (sums.pair[(2 * q + 1) * pairs_ + p] -
                           midpoints_[q * pairs_ + p] * sums.pair[(2 * q + 2) * pairs_ + p]);
        gradient->Z(i, q) += d_midpoint - share * scaled;
        gradient->Z(j, q) += d_midpoint + share * scaled;
      }
    }
  }
}

}  // namespace fathom::se_ard
