#include "fathom/kernel/se_linear_projection.h"

#include <cmath>

#include "fathom/base/error.h"
#include "fathom/kernel/se_ard_loops.h"

namespace fathom {

namespace {

using MapArray = Eigen::Map<Eigen::ArrayXd>;
using ConstMapArray = Eigen::Map<const Eigen::ArrayXd>;
using MapVector = Eigen::Map<Vector>;
using MapMatrix = Eigen::Map<Matrix>;

}  // namespace

struct SeLinearProjection::Tape {
  Tape(const SeLinearProjection& of, Index rows, double* memory)
      : se(memory),
        psi1(se + PaddedSize(of.se_.TapeSize(rows))),
        weight(psi1 + rows * of.padded_),
        mu(weight + of.padded_),
        inverse(mu + PaddedSize(rows * of.D_)),
        offset(inverse + PaddedSize(rows * of.D_)),
        end(offset + PaddedSize(rows)) {}
  double* se;
  double* psi1;     // [rows, padded]
  double* weight;   // [padded]  of one row: sum_q (S A)_iq xhat_iq
  double* mu;       // [rows, D]
  double* inverse;  // [rows, D]  1 / (l^2 + s)
  double* offset;   // [rows]  log of psi1's prefactor
  double* end;
};

struct SeLinearProjection::Sums {
  Sums(const SeLinearProjection& of, double* memory)
      : se(memory),
        dSA(se + PaddedSize(of.se_.SumsSize())),
        dZ(dSA + of.D_ * of.padded_),
        dQ(dZ + of.D_ * of.padded_),
        slope(dQ + of.D_ * of.D_),
        log_l(slope + of.D_),
        log_variance(log_l + of.D_),
        end(memory + PaddedSize(log_variance + 1 - memory)) {}
  double* se;
  double *dSA, *dZ;      // [D, padded]
  double* dQ;            // [D, D]
  double* slope;         // [D]  of c + w
  double* log_l;         // [D]  through the cross term
  double* log_variance;  // [1]
  double* end;
};

void SeLinearProjection::Prepare(const LatentFunction& function, const ProjectionOptions& options) {
  M_ = function.Z.rows();
  D_ = function.Z.cols();
  FATHOM_CHECK(function.theta.size() == 1 + 2 * D_);
  padded_ = PaddedSize(M_);
  se_theta_ = function.theta.head(1 + D_);
  a_ = function.a;
  linear_.Prepare(function, function.theta.tail(D_));
  z_.assign(static_cast<std::size_t>(D_ * padded_), 0.0);
  SA_ = z_;
  for (Index q = 0; q < D_; ++q) {
    MapVector(z_.data() + q * padded_, M_) = function.Z.col(q);
    MapVector(SA_.data() + q * padded_, M_) = linear_.SA().col(q);
  }
  se_.Prepare({se_theta_, function.Z, function.a, function.S, linear_.slope()}, options);
}

Index SeLinearProjection::TapeSize(Index rows) const {
  const Tape tape(*this, rows, nullptr);
  return tape.end - tape.se;
}

Index SeLinearProjection::SumsSize() const {
  const Sums sums(*this, nullptr);
  return sums.end - sums.se;
}

void SeLinearProjection::Forward(const Input& x, double* tape_memory, double* m, double* v) const {
  const auto& [mean, var] = x;
  const Tape tape(*this, mean.rows(), tape_memory);
  se_.Forward(x, tape.se, m, v);
  for (Index n = 0; n < mean.rows(); ++n) {
    double stretch = 1;
    for (Index q = 0; q < D_; ++q) {
      const double l2 = se_theta_[1 + q] * se_theta_[1 + q];
      tape.mu[n * D_ + q] = mean(n, q);
      tape.inverse[n * D_ + q] = 1 / (l2 + var(n, q));
      stretch *= l2 * tape.inverse[n * D_ + q];
    }
    tape.offset[n] = std::log(se_theta_[0]) + 0.5 * std::log(stretch);
  }
  se_ard::GaussianRows(
      {mean.rows(), D_, M_, tape.offset, tape.mu, tape.inverse, z_.data(), tape.psi1});
  const Matrix& Q = linear_.Q();
  for (Index n = 0; n < mean.rows(); ++n) {
    const ConstMapArray psi1(tape.psi1 + n * padded_, M_);
    for (Index q = 0; q < D_; ++q) {
      const double mu = mean(n, q);
      const double r = var(n, q) * tape.inverse[n * D_ + q];
      const ConstMapArray z(z_.data() + q * padded_, M_);
      const ConstMapArray SA(SA_.data() + q * padded_, M_);
      v[n] += mu * Q.row(q).dot(mean.row(n)) + var(n, q) * Q(q, q) -
              2 * (psi1 * SA * (mu + r * (z - mu))).sum();
    }
  }
}

void SeLinearProjection::Backward(const Input& x, double* tape_memory, const Slopes& d_out,
                                  double* sums_memory, const InputSlopes& d_x) const {
  const auto& [mean, var] = x;
  const auto& [d_m, d_v] = d_out;
  const Tape tape(*this, mean.rows(), tape_memory);
  const Sums sums(*this, sums_memory);
  se_.Backward(x, tape.se, d_out, sums.se, d_x);
  const Matrix& Q = linear_.Q();
  const Vector& slope = linear_.slope();
  for (Index n = 0; n < mean.rows(); ++n) {
    const double g = d_v[n];
    const double t = -2 * g;  // of the cross term
    const ConstMapArray psi1(tape.psi1 + n * padded_, M_);
    const double* inverse = tape.inverse + n * D_;
    // u_i = dF / d log psi1_i
    MapArray u(tape.weight, M_);
    u.setZero();
    for (Index q = 0; q < D_; ++q) {
      const ConstMapArray z(z_.data() + q * padded_, M_);
      const double r = var(n, q) * inverse[q];
      u += ConstMapArray(SA_.data() + q * padded_, M_) * (mean(n, q) + r * (z - mean(n, q)));
    }
    u *= t * psi1;
    const double U = u.sum();
    sums.log_variance[0] += U;
    for (Index q = 0; q < D_; ++q) {
      const ConstMapArray z(z_.data() + q * padded_, M_);
      const ConstMapArray SA(SA_.data() + q * padded_, M_);
      const double mu = mean(n, q);
      const double s = var(n, q);
      const double e = inverse[q];
      const double r = s * e;
      const double l2 = se_theta_[1 + q] * se_theta_[1 + q];
      // The cross term through xhat, and through psi1: exponent -1/2 e (mu - z)^2, prefactor
      // (l^2 e)^1/2.
      const double pull = t * (psi1 * SA).sum();
      const double d_r = t * (psi1 * SA * (z - mu)).sum();
      const double uz = (u * (z - mu)).sum();
      const double d_e = -0.5 * (u * (z - mu).square()).sum();
      MapArray(sums.dSA + q * padded_, M_) += t * psi1 * (mu + r * (z - mu));
      MapArray(sums.dZ + q * padded_, M_) += r * t * psi1 * SA - e * u * (z - mu);
      sums.log_l[q] += -2 * l2 * e * e * d_e + U * (1 - e * l2) - 2 * l2 * r * e * d_r;
      // c + w, as the linear mean of the SE-ARD part.
      const double se_slope = s == 0 ? 0 : e * (psi1 * a_.array() * (z - mu)).sum();
      sums.slope[q] += d_m[n] * mu + 2 * g * s * (slope[q] + se_slope);
      for (Index p = 0; p < D_; ++p) sums.dQ[q * D_ + p] += g * mu * mean(n, p);
      sums.dQ[q * D_ + q] += g * s;
      if (d_x.mean != nullptr)
        (*d_x.mean)(n, q) += 2 * g * Q.row(q).dot(mean.row(n)) + (1 - r) * pull + e * uz;
      if (d_x.var != nullptr)
        (*d_x.var)(n, q) += g * Q(q, q) - e * e * d_e - 0.5 * e * U + e * (1 - r) * d_r;
    }
  }
}

void SeLinearProjection::Finish(const double* sums_memory, LatentFunctionGradient gradient) const {
  const Sums sums(*this, const_cast<double*>(sums_memory));  // NOLINT: read only
  Vector se_theta = Vector::Zero(1 + D_);
  se_.Finish(sums.se, {se_theta, gradient.Z, gradient.a, gradient.S});
  se_theta[0] += sums.log_variance[0] / se_theta_[0];
  Matrix dSA(M_, D_);
  for (Index q = 0; q < D_; ++q) {
    se_theta[1 + q] += sums.log_l[q] / se_theta_[1 + q];
    dSA.col(q) = MapVector(sums.dSA + q * padded_, M_);
    gradient.Z.col(q) += MapVector(sums.dZ + q * padded_, M_);
  }
  gradient.theta.head(1 + D_) += se_theta;
  linear_.Backward(MapVector(sums.slope, D_), MapMatrix(sums.dQ, D_, D_), &dSA,
                   gradient.theta.tail(D_), &gradient);
}

}  // namespace fathom
