#include <algorithm>
#include <cmath>
#include <type_traits>

#include "fathom/kernel/se_ard_loops.h"
#include "fathom/kernel/se_ard_projection.h"

namespace fathom::se_ard {

namespace {

using MapVector = Eigen::Map<Vector>;
using ConstMapVector = Eigen::Map<const Vector>;

struct UncertainSums {
  UncertainSums(const Shape& shape, Index pairs, double* memory)
      : pair(memory),
        a(pair + (2 * shape.D + 1) * pairs),
        z(a + shape.padded),
        log_l(z + shape.D * shape.padded),
        log_variance(log_l + shape.D) {}
  double* pair;          // [2D+1, pairs]  see PairBackward
  double* a;             // [padded]     through psi1
  double* z;             // [D, padded]  through psi1
  double* log_l;         // [D]          through the row features and psi1
  double* log_variance;  // [1]
};

// One row on the way back.
struct RowBackward {
  const Shape& shape;
  const double *mu, *s;   // [D]
  const double* inverse;  // [D]  1 / (l^2 + s)
  double m;               // psi1 a
  double d_m, d_v;        // dF/dm and dF/dv
  const double* sums;     // [D, 3]  see Psi1Backward
  double T;               // sum of dF/d log psi1

  // The linear mean's covariance with the GP part makes v depend on dm/dmu_q by this much.
  double Kappa(Index q) const { return 2 * d_v * shape.w[q] * s[q] * inverse[q]; }
};

// dF/dmu_q, dF/ds_q and dF/d log l_q of one row.
struct InputSlope {
  double mean, var, log_l;
};

// Through psi1, with exponent -1/2 e (mu - z)^2 and prefactor (l^2 e)^1/2, and through the linear
// mean.
InputSlope ThroughPsi1(const RowBackward& row, Index q) {
  const Shape& shape = row.shape;
  const double mean = row.mu[q];
  const double l2 = shape.l[q] * shape.l[q];
  const double e = row.inverse[q];
  const double tz = row.sums[3 * q];
  const double tzz = row.sums[3 * q + 1];
  double d_mean = e * (tz - mean * row.T);
  double d_e = -0.5 * (tzz - 2 * mean * tz + mean * mean * row.T);
  double d_var = 0;
  if (shape.w.size() > 0) {
    const double g = row.d_v;
    const double w = shape.w[q];
    const double hz = row.sums[3 * q + 2] - mean * row.m;
    d_mean += -row.Kappa(q) * row.m + row.d_m * w;
    d_var += 2 * g * w * e * hz + g * w * w;
    d_e += 2 * g * w * row.s[q] * hz;
  }
  d_var += -e * e * d_e - 0.5 * e * row.T;
  return {d_mean, d_var, -2 * l2 * e * e * d_e + row.T * (1 - e * l2)};
}

}  // namespace

// The tape's arrays, one after the other; `size` is where the last one ends.
template <typename Real>
struct UncertainRows::Tape {
  Tape(const UncertainRows& of, Index D, Index rows, double* memory) : begin(memory) {
    const Index sums = of.backward_ ? 2 * D + 1 : 1;
    psi2 = of.backward_ ? Take<Real>(rows * of.pairs_) : nullptr;
    psi1 = Take<double>(rows * of.padded_);
    features = Take<Real>(rows * (2 * D + 1));
    row_sums = Take<double>(rows * sums);
    inverse = Take<double>(rows * D);
    offset = Take<double>(rows);
    prefactor2 = Take<double>(rows);
    m = Take<double>(rows);
    t = Take<double>(of.padded_);
    h = Take<double>(of.padded_);
    kappa = Take<double>(D);
    psi1_sums = Take<double>(3 * D);
  }

  Real* psi2;          // [rows, pairs]  the exponential alone, or null: see se_ard_loops.h
  double* psi1;        // [rows, padded]
  Real* features;      // [rows, 2D]  in the backward pass [rows, 2D+1], coefficients of pair sums
  double* row_sums;    // [rows, 2D+1], or [rows] if there is no backward pass
  double* inverse;     // [rows, D]  1 / (l^2 + s)
  double* offset;      // [rows]  log of psi1's prefactor
  double* prefactor2;  // [rows]  prod (1 + 2 s/l^2)^-1/2
  double* m;           // [rows]  psi1 a
  double *t, *h;       // [padded]  of one row, in the backward pass: see Psi1Backward
  double* kappa;       // [D]
  double* psi1_sums;   // [D, 3]
  double* begin;
  Index size = 0;  // in doubles

 private:
  template <typename U>
  U* Take(Index count) {
    double* const at = begin == nullptr ? nullptr : begin + size;  // null: only the size is asked
    size += PaddedSize((count * static_cast<Index>(sizeof(U)) + 7) / 8);
    return reinterpret_cast<U*>(at);
  }
};

void UncertainRows::Prepare(const Shape& shape, const LatentFunction& function,
                            const ProjectionOptions& options) {
  precision_ = options.precision;
  backward_ = options.backward;
  variance_ = options.variance || options.backward;
  const Index M = shape.M;
  const Index D = shape.D;
  pairs_ = (M * (M + 1) / 2 + kPairPadding - 1) / kPairPadding * kPairPadding;
  padded_ = shape.padded;
  a_.assign(static_cast<std::size_t>(shape.padded), 0.0);
  std::copy(shape.a.begin(), shape.a.end(), a_.begin());
  z_.assign(static_cast<std::size_t>(D * shape.padded), 0.0);
  midpoints_.assign(static_cast<std::size_t>(D * pairs_), 0.0);
  decay_.assign(static_cast<std::size_t>(pairs_), 0.0);
  weights_.assign(static_cast<std::size_t>(pairs_), 0.0);
  for (Index q = 0; q < D; ++q) {
    for (Index i = 0; i < M; ++i) z_[q * shape.padded + i] = function.Z(i, q);
  }
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
  sums_size_ = (2 * D + 1) * pairs_ + (D + 1) * shape.padded + D + 1;
}

template <typename Real>
UncertainRows::Arrays<Real> UncertainRows::PairArrays() const {
  if constexpr (std::is_same_v<Real, double>) {
    return {weights_.data(), midpoints_.data()};
  } else {
    return {weights_float_.data(), midpoints_float_.data()};
  }
}

Index UncertainRows::TapeSize(Index rows) const {
  const Index D = static_cast<Index>(z_.size()) / padded_;
  return precision_ == Precision::kMixed ? Tape<float>(*this, D, rows, nullptr).size
                                         : Tape<double>(*this, D, rows, nullptr).size;
}

Index UncertainRows::SumsSize() const { return PaddedSize(sums_size_); }

void UncertainRows::Forward(const Shape& shape, const RowsIn& x, double* tape, double* m,
                            double* v) const {
  if (precision_ == Precision::kMixed) {
    ForwardAs<float>(shape, x, tape, m, v);
  } else {
    ForwardAs<double>(shape, x, tape, m, v);
  }
}

void UncertainRows::Backward(const Shape& shape, const RowsIn& x, double* tape,
                             const RowSlopes& d_out, double* sums, const InputSlopes& d_x) const {
  if (precision_ == Precision::kMixed) {
    BackwardAs<float>(shape, x, tape, d_out, sums, d_x);
  } else {
    BackwardAs<double>(shape, x, tape, d_out, sums, d_x);
  }
}

template <typename Real>
void UncertainRows::ForwardAs(const Shape& shape, const RowsIn& x, double* tape_memory, double* m,
                              double* v) const {
  const auto [rows, mu, s] = x;
  const Index D = shape.D;
  const Tape<Real> tape(*this, D, rows, tape_memory);
  for (Index n = 0; n < rows; ++n) {
    Real* f = tape.features + n * 2 * D;
    double stretch1 = 1;
    double stretch2 = 1;
    for (Index q = 0; q < D; ++q) {
      const double l2 = shape.l[q] * shape.l[q];
      const double c = 1 / (l2 + 2 * s[n * D + q]);
      const double mean = mu[n * D + q];
      tape.inverse[n * D + q] = 1 / (l2 + s[n * D + q]);
      stretch1 *= l2 * tape.inverse[n * D + q];
      stretch2 *= l2 * c;
      const double root = std::sqrt(c);
      f[2 * q] = static_cast<Real>(root);
      f[2 * q + 1] = static_cast<Real>(root * mean);
    }
    tape.offset[n] = std::log(shape.variance) + 0.5 * std::log(stretch1);
    tape.prefactor2[n] = std::sqrt(stretch2);
  }
  // [psi1] in full; [psi2] contracted with its weights as it is computed.
  GaussianRows({rows, D, shape.M, tape.offset, mu, tape.inverse, z_.data(), tape.psi1});
  const auto [weights, midpoints] = PairArrays<Real>();
  const Index stride = backward_ ? 2 * D + 1 : 1;
  if (variance_) {
    PairForward(PairTile<Real>{rows, D, pairs_, tape.features, weights, midpoints, tape.psi2,
                               tape.row_sums});
  } else {
    std::fill_n(tape.row_sums, rows * stride, 0.0);
  }
  for (Index n = 0; n < rows; ++n) {
    const ConstMapVector psi1(tape.psi1 + n * shape.padded, shape.M);
    tape.m[n] = psi1.dot(shape.a);
    m[n] = tape.m[n];
    v[n] = shape.variance + tape.prefactor2[n] * tape.row_sums[n * stride] - m[n] * m[n];
    if (shape.w.size() == 0) continue;
    // The linear mean: by Stein's lemma Cov(x_q, g) = s_q dm/dmu_q.
    for (Index q = 0; q < D; ++q) {
      const double sq = s[n * D + q];
      const ConstMapVector z(z_.data() + q * shape.padded, shape.M);
      const double slope =
          tape.inverse[n * D + q] * (psi1.cwiseProduct(shape.a).dot(z) - mu[n * D + q] * tape.m[n]);
      m[n] += shape.w[q] * mu[n * D + q];
      v[n] += shape.w[q] * sq * (shape.w[q] + 2 * slope);
    }
  }
}

template <typename Real>
void UncertainRows::BackwardAs(const Shape& shape, const RowsIn& x, double* tape_memory,
                               const RowSlopes& d_out, double* sums_memory,
                               const InputSlopes& d_x) const {
  const Index D = shape.D;
  const Tape<Real> tape(*this, D, x.rows, tape_memory);
  const UncertainSums sums(shape, pairs_, sums_memory);
  for (Index n = 0; n < x.rows; ++n) {
    RowBackward row{.shape = shape,
                    .mu = x.mu + n * D,
                    .s = x.s + n * D,
                    .inverse = tape.inverse + n * D,
                    .m = tape.m[n],
                    .d_m = d_out.m[n],
                    .d_v = d_out.v[n],
                    .sums = tape.psi1_sums,
                    .T = 0};
    const bool linear = shape.w.size() > 0;
    for (Index q = 0; linear && q < D; ++q) tape.kappa[q] = row.Kappa(q);
    row.T = Psi1Backward({.D = D,
                          .M = shape.M,
                          .base = row.d_m - 2 * row.m * row.d_v,
                          .mu = row.mu,
                          .e = row.inverse,
                          .kappa = linear ? tape.kappa : nullptr,
                          .psi1 = tape.psi1 + n * shape.padded,
                          .a = a_.data(),
                          .z = z_.data(),
                          .h = tape.h,
                          .t = tape.t,
                          .a_sums = sums.a,
                          .z_sums = sums.z,
                          .sums = tape.psi1_sums});

    Real* f = tape.features + n * (2 * D + 1);
    const double* r = tape.row_sums + n * (2 * D + 1);
    const double g_psi2 = row.d_v * tape.prefactor2[n];
    const double psi2_share = g_psi2 * r[0];
    sums.log_variance[0] += row.T + 2 * psi2_share + row.d_v * shape.variance;
    for (Index q = 0; q < D; ++q) {
      InputSlope slope = ThroughPsi1(row, q);
      // psi2: exponent -y^2, y = c^1/2 (zbar - mu), and prefactor (l^2 c)^1/2.
      const double l2 = shape.l[q] * shape.l[q];
      const double c = 1 / (l2 + 2 * row.s[q]);
      const double c_d_c = -g_psi2 * r[2 * q + 2];
      slope.mean += 2 * g_psi2 * std::sqrt(c) * r[2 * q + 1];
      slope.var += -2 * c * c_d_c - c * psi2_share;
      slope.log_l += -2 * l2 * c * c_d_c + psi2_share * (1 - c * l2);
      sums.log_l[q] += slope.log_l;
      if (d_x.mu != nullptr) d_x.mu[n * D + q] += slope.mean;
      if (d_x.s != nullptr) d_x.s[n * D + q] += slope.var;
      f[2 * q + 1] = static_cast<Real>(g_psi2 * c * row.mu[q]);
      f[2 * q + 2] = static_cast<Real>(g_psi2 * c);
    }
    f[0] = static_cast<Real>(g_psi2);
  }
  PairBackward(x.rows, 2 * D + 1, pairs_, tape.features, tape.psi2, sums.pair);
}

void UncertainRows::Finish(const Shape& shape, const double* sums_memory,
                           LatentFunctionGradient* gradient) const {
  const UncertainSums sums(shape, pairs_, const_cast<double*>(sums_memory));  // NOLINT: read only
  const Index D = shape.D;
  gradient->a += ConstMapVector(sums.a, shape.M);
  gradient->theta[0] += sums.log_variance[0] / shape.variance;
  for (Index q = 0; q < D; ++q) {
    gradient->Z.col(q) += ConstMapVector(sums.z + q * shape.padded, shape.M);
    gradient->theta[1 + q] += sums.log_l[q] / shape.l[q];
  }
  Index p = 0;
  for (Index i = 0; i < shape.M; ++i) {
    for (Index j = 0; j <= i; ++j, ++p) {
      const double d_psi2 = decay_[p] * sums.pair[p];  // sum_n d_v psi2_nij
      gradient->S(i, j) -= d_psi2;
      gradient->a[i] += 2 * d_psi2 * shape.a[j];
      if (j < i) {
        gradient->S(j, i) -= d_psi2;
        gradient->a[j] += 2 * d_psi2 * shape.a[i];
      }
      const double share = weights_[p] * sums.pair[p];
      for (Index q = 0; q < D; ++q) {
        const double difference = z_[q * shape.padded + i] - z_[q * shape.padded + j];
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
