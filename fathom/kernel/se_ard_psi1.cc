#include "fathom/kernel/se_ard_psi1.h"

#include <algorithm>
#include <cmath>

#include "fathom/kernel/se_ard_loops.h"

namespace fathom::se_ard {

namespace {

using ConstMap = Eigen::Map<const Vector>;

}  // namespace

void Psi1::Prepare(const Shape& shape, const LatentFunction& function) {
  a_.assign(static_cast<std::size_t>(shape.padded), 0.0);
  std::copy(shape.a.begin(), shape.a.end(), a_.begin());
  z_.assign(static_cast<std::size_t>(shape.D * shape.padded), 0.0);
  for (Index q = 0; q < shape.D; ++q) {
    for (Index i = 0; i < shape.M; ++i) z_[q * shape.padded + i] = function.Z(i, q);
  }
}

// [psi1]
void Psi1::Forward(const Shape& shape, const RowsIn& x, const Psi1Tape& tape) const {
  const Index D = shape.D;
  for (Index n = 0; n < x.rows; ++n) {
    double stretch = 1;
    for (Index q = 0; q < D; ++q) {
      const double l2 = shape.l[q] * shape.l[q];
      tape.inverse[n * D + q] = 1 / (l2 + x.s[n * D + q]);
      stretch *= l2 * tape.inverse[n * D + q];
    }
    tape.offset[n] = std::log(shape.variance) + 0.5 * std::log(stretch);
  }
  GaussianRows({x.rows, D, shape.M, tape.offset, x.mu, tape.inverse, z_.data(), tape.psi1});
  for (Index n = 0; n < x.rows; ++n)
    tape.m[n] = ConstMap(tape.psi1 + n * shape.padded, shape.M).dot(shape.a);
}

void Psi1::Moments(const Shape& shape, const RowsIn& x, Index n, const Psi1Tape& tape,
                   double second, double* m, double* v) const {
  const Index D = shape.D;
  m[n] = tape.m[n];
  v[n] = shape.variance + second - m[n] * m[n];
  if (shape.w.size() == 0) return;
  // The linear mean: by Stein's lemma Cov(x_q, g) = s_q dm/dmu_q.
  const ConstMap psi1(tape.psi1 + n * shape.padded, shape.M);
  for (Index q = 0; q < D; ++q) {
    const double sq = x.s[n * D + q];
    const double mean = x.mu[n * D + q];
    m[n] += shape.w[q] * mean;
    if (sq == 0) continue;
    const ConstMap z(z_.data() + q * shape.padded, shape.M);
    const double slope =
        tape.inverse[n * D + q] * (psi1.cwiseProduct(shape.a).dot(z) - mean * tape.m[n]);
    v[n] += shape.w[q] * sq * (shape.w[q] + 2 * slope);
  }
}

Psi1Down Psi1::Backward(const Shape& shape, const RowsIn& x, Index n, const Psi1Tape& tape,
                        const RowSlopes& d_out, const Psi1Sums& sums) const {
  const Index D = shape.D;
  Psi1Down row{.shape = shape,
               .mu = x.mu + n * D,
               .s = x.s + n * D,
               .inverse = tape.inverse + n * D,
               .m = tape.m[n],
               .d_m = d_out.m[n],
               .d_v = d_out.v[n],
               .sums = tape.sums,
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
                        .sums = tape.sums});
  return row;
}

// Through psi1, with exponent -1/2 e (mu - z)^2 and prefactor (l^2 e)^1/2, and through the linear
// mean.
InputSlope Psi1Down::Through(Index q) const {
  const double mean = mu[q];
  const double l2 = shape.l[q] * shape.l[q];
  const double e = inverse[q];
  const double tz = sums[3 * q];
  const double tzz = sums[3 * q + 1];
  double d_mean = e * (tz - mean * T);
  double d_e = -0.5 * (tzz - 2 * mean * tz + mean * mean * T);
  double d_var = 0;
  if (shape.w.size() > 0) {
    const double w = shape.w[q];
    const double hz = sums[3 * q + 2] - mean * m;
    d_mean += -Kappa(q) * m + d_m * w;
    d_var += 2 * d_v * w * e * hz + d_v * w * w;
    d_e += 2 * d_v * w * s[q] * hz;
  }
  d_var += -e * e * d_e - 0.5 * e * T;
  return {d_mean, d_var, -2 * l2 * e * e * d_e + T * (1 - e * l2)};
}

void Psi1::Finish(const Shape& shape, const Psi1Sums& sums, LatentFunctionGradient* gradient) {
  gradient->a += ConstMap(sums.a, shape.M);
  gradient->theta[0] += sums.log_variance[0] / shape.variance;
  for (Index q = 0; q < shape.D; ++q) {
    gradient->Z.col(q) += ConstMap(sums.z + q * shape.padded, shape.M);
    gradient->theta[1 + q] += sums.log_l[q] / shape.l[q];
  }
}

}  // namespace fathom::se_ard
