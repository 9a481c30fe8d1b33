#include <algorithm>
#include <cmath>

#include "fathom/kernel/se_ard_loops.h"
#include "fathom/kernel/se_ard_projection.h"
#include "fathom/kernel/zero_variance.h"

namespace fathom::se_ard {

namespace {

using MapMatrix = Eigen::Map<Matrix>;
using ConstMapMatrix = Eigen::Map<const Matrix>;
using MapVector = Eigen::Map<Vector>;
using ConstMapVector = Eigen::Map<const Vector>;

// Sums over rows, with e_ni = dF/d log k_ni.
struct CertainSums {
  CertainSums(const Shape& shape, double* memory)
      : kk(memory),
        ex(kk + shape.M * shape.padded),
        e(ex + shape.M * shape.D),
        a(e + shape.padded),
        exx(a + shape.padded),
        d_v(exx + shape.D) {}
  double* kk;   // [M, padded]  sum_n d_v k k', lower triangle
  double* ex;   // [M, D]       sum_n e_ni x_nq
  double* e;    // [M]          sum_n e_ni
  double* a;    // [M]          sum_n d_m k
  double* exx;  // [D]          sum_n x_nq^2 sum_i e_ni
  double* d_v;  // [1]          sum_n d_v
};

}  // namespace

struct CertainRows::Tape {
  Tape(const Shape& shape, Index rows, double* memory)
      : k(memory),
        U(k + rows * shape.padded),
        scratch(U + rows * shape.padded),
        along(scratch + rows * shape.padded),
        offset(along + 4 * shape.padded),
        x(offset + PaddedSize(rows)) {}
  double* k;        // [rows, padded]
  double* U;        // [rows, padded]  k S; the backward pass turns it into d log k
  double* scratch;  // [rows, padded]
  double* along;    // [4, padded]  of one row and input: see AddZeroVarianceSlopes
  double* offset;   // [rows]  log variance
  double* x;        // [rows, D]  x_q / l_q
};

void CertainRows::Prepare(const Shape& shape, const LatentFunction& function,
                          const ProjectionOptions& options) {
  variance_ = options.variance || options.backward;
  scaled_z_.assign(static_cast<std::size_t>(shape.D * shape.padded), 0.0);
  S_.assign(static_cast<std::size_t>(shape.M * shape.padded), 0.0);
  for (Index q = 0; q < shape.D; ++q) {
    for (Index i = 0; i < shape.M; ++i)
      scaled_z_[q * shape.padded + i] = function.Z(i, q) / shape.l[q];
  }
  for (Index i = 0; i < shape.M; ++i) {
    for (Index j = 0; j < shape.M; ++j) S_[i * shape.padded + j] = function.S(i, j);
  }
  tape_per_row_ = 3 * shape.padded + 1 + shape.D;
  fixed_tape_ = 4 * shape.padded + kSimdPadding;
  sums_size_ = shape.M * (shape.padded + shape.D) + 2 * shape.padded + shape.D + 1;
}

Index CertainRows::TapeSize(Index rows) const {
  return PaddedSize(rows * tape_per_row_ + fixed_tape_);
}

Index CertainRows::SumsSize() const { return PaddedSize(sums_size_); }

void CertainRows::Forward(const Shape& shape, Index rows, const double* x, double* tape_memory,
                          double* m, double* v) const {
  const Tape tape(shape, rows, tape_memory);
  std::fill_n(tape.offset, rows, std::log(shape.variance));
  for (Index n = 0; n < rows; ++n) {
    MapVector(tape.x + n * shape.D, shape.D) =
        ConstMapVector(x + n * shape.D, shape.D).cwiseQuotient(shape.l);
  }
  GaussianRows({rows, shape.D, shape.M, tape.offset, tape.x, nullptr, scaled_z_.data(), tape.k});
  for (Index n = 0; n < rows; ++n) {
    m[n] = ConstMapVector(tape.k + n * shape.padded, shape.M).dot(shape.a);
    if (shape.w.size() > 0) m[n] += ConstMapVector(x + n * shape.D, shape.D).dot(shape.w);
    v[n] = shape.variance;
  }
  if (!variance_) return;
  RowsTimesMatrix(rows, shape.M, tape.k, S_.data(), tape.U);
  for (Index n = 0; n < rows; ++n) {
    v[n] -= ConstMapVector(tape.k + n * shape.padded, shape.M)
                .dot(ConstMapVector(tape.U + n * shape.padded, shape.M));
  }
}

// k = exp(-1/2 sum t_q^2), t_q = (x_q - z_q) / l_q, has k_q = -k t_q / l_q and
// k_qq = k (t_q^2 - 1) / l_q^2.
void CertainRows::AddZeroVarianceSlopes(const Shape& shape, const Tape& tape, Index n, double d_m,
                                        double d_v, double* d_s) const {
  const ConstMapVector k(tape.k + n * shape.padded, shape.M);
  const ConstMapVector Sk(tape.U + n * shape.padded, shape.M);
  std::fill_n(tape.along, 4 * shape.padded, 0.0);
  MapVector first(tape.along, shape.M);
  MapVector S_first(tape.along + shape.padded, shape.M);
  MapVector second(tape.along + 2 * shape.padded, shape.M);
  MapVector dk(tape.along + 3 * shape.padded, shape.M);
  dk = d_m * shape.a - 2 * d_v * Sk;
  for (Index q = 0; q < shape.D; ++q) {
    const ConstMapVector z(scaled_z_.data() + q * shape.padded, shape.M);
    const double x = tape.x[n * shape.D + q];
    const double l = shape.l[q];
    first.array() = k.array() * (z.array() - x) / l;
    second.array() = k.array() * ((z.array() - x).square() - 1) / (l * l);
    RowsTimesMatrix(1, shape.M, first.data(), S_.data(), S_first.data());
    const double w = shape.w.size() > 0 ? shape.w[q] : 0;
    d_s[q] += ZeroVarianceSlope({first, second, S_first, 0, w}, shape.a, dk, d_v);
  }
}

void CertainRows::Backward(const Shape& shape, Index rows, double* tape_memory,
                           const RowSlopes& d_out, double* sums_memory,
                           const InputSlopes& d_x) const {
  const auto [d_m, d_v] = d_out;
  const Tape tape(shape, rows, tape_memory);
  const CertainSums sums(shape, sums_memory);
  SymmetricRankUpdate(rows, shape.M, d_v, tape.k, tape.scratch, sums.kk);
  MapVector a_sum(sums.a, shape.M);
  MapVector e_sum(sums.e, shape.M);
  for (Index n = 0; n < rows; ++n) {
    const ConstMapVector k(tape.k + n * shape.padded, shape.M);
    MapVector e(tape.U + n * shape.padded, shape.M);
    if (d_x.s != nullptr)
      AddZeroVarianceSlopes(shape, tape, n, d_m[n], d_v[n], d_x.s + n * shape.D);
    a_sum += d_m[n] * k;
    e = k.array() * (d_m[n] * shape.a - 2 * d_v[n] * e).array();
    e_sum += e;
    const double total = e.sum();
    MapVector(sums.exx, shape.D) +=
        total * ConstMapVector(tape.x + n * shape.D, shape.D).cwiseAbs2();
    sums.d_v[0] += d_v[n];
    if (d_x.mu != nullptr) {
      for (Index q = 0; q < shape.D; ++q) {
        const ConstMapVector z(scaled_z_.data() + q * shape.padded, shape.M);
        d_x.mu[n * shape.D + q] += (e.dot(z) - total * tape.x[n * shape.D + q]) / shape.l[q];
        if (shape.w.size() > 0) d_x.mu[n * shape.D + q] += d_m[n] * shape.w[q];
      }
    }
  }
  const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> e(tape.U, rows, shape.M,
                                                            Eigen::OuterStride<>(shape.padded));
  MapMatrix(sums.ex, shape.M, shape.D).noalias() +=
      e.transpose() * ConstMapMatrix(tape.x, rows, shape.D);
}

void CertainRows::Finish(const Shape& shape, const double* sums_memory,
                         LatentFunctionGradient* gradient) const {
  const CertainSums sums(shape, const_cast<double*>(sums_memory));  // NOLINT: read only
  for (Index i = 0; i < shape.M; ++i) {
    for (Index j = 0; j <= i; ++j) {
      const double d = sums.kk[i * shape.padded + j];
      gradient->S(i, j) -= d;
      if (j < i) gradient->S(j, i) -= d;
    }
  }
  gradient->a += ConstMapVector(sums.a, shape.M);
  gradient->theta[0] += ConstMapVector(sums.e, shape.M).sum() / shape.variance + sums.d_v[0];
  // d log k = -(x - z) dx etc. in scaled coordinates; then back to the units of Z and l.
  for (Index q = 0; q < shape.D; ++q) {
    double d_log_l = sums.exx[q];
    for (Index i = 0; i < shape.M; ++i) {
      const double z = scaled_z_[q * shape.padded + i];
      const double ex = sums.ex[i * shape.D + q];
      gradient->Z(i, q) += (ex - z * sums.e[i]) / shape.l[q];
      d_log_l += z * (z * sums.e[i] - 2 * ex);
    }
    gradient->theta[1 + q] += d_log_l / shape.l[q];
  }
}

}  // namespace fathom::se_ard
