#include "fathom/kernel/spectral_mixture_projection.h"

#include "fathom/base/aligned.h"
#include "fathom/base/error.h"
#include "fathom/kernel/zero_variance.h"

namespace fathom {

namespace {

using MapVector = Eigen::Map<Vector>;
using MapMatrix = Eigen::Map<Matrix>;

bool RowIsCertain(const Projection::Rows& var, Index n) { return (var.row(n).array() == 0).all(); }

}  // namespace

// Holds what one row leaves. psi2 is computed again in the backward pass: keeping it would need M^2
// Q^2 D numbers a row.
struct SpectralMixtureProjection::Tape {
  static Index Size(const spectral_mixture::Components& c) { return 2 * c.M + c.D; }
  Tape(const spectral_mixture::Components& c, Index n, double* memory)
      : k(memory + n * Size(c)), Sk(k + c.M), slope(Sk + c.M) {}
  double* k;      // [M]  k(x, Z), or psi1
  double* Sk;     // [M]  of a certain row
  double* slope;  // [D]  of psi1'a with respect to mu, of an uncertain row
};

struct SpectralMixtureProjection::Sums {
  Sums(const spectral_mixture::Components& c, double* memory)
      : slopes(c, memory),
        a(memory + spectral_mixture::Slopes::Size(c.Q, c.D, c.M)),
        kk(a + c.M),
        half(kk + c.M * c.M) {}
  spectral_mixture::Slopes slopes;
  double* a;     // [M]     through k and psi1
  double* kk;    // [M, M]  sum_n d_v k k' of the certain rows
  double* half;  // [M, M]  half + half' = sum_n d_v psi2 of the uncertain rows
};

void SpectralMixtureProjection::Prepare(const LatentFunction& function,
                                        const ProjectionOptions& options) {
  uncertain_ = options.uncertain;
  c_ = spectral_mixture::Components(function.theta, function.Z);
  a_ = function.a;
  w_ = function.w;
  S_ = function.S;
  B_ = a_ * a_.transpose() - S_;
}

Index SpectralMixtureProjection::TapeSize(Index rows) const {
  return PaddedSize(rows * Tape::Size(c_));
}

Index SpectralMixtureProjection::SumsSize() const {
  return PaddedSize(spectral_mixture::Slopes::Size(c_.Q, c_.D, c_.M) + c_.M +
                    (uncertain_ ? 2 : 1) * c_.M * c_.M);
}

void SpectralMixtureProjection::Forward(const Input& x, double* tape_memory, double* m,
                                        double* v) const {
  const auto& [mean, var] = x;
  for (Index n = 0; n < mean.rows(); ++n) {
    const Tape tape(c_, n, tape_memory);
    const MapVector k(tape.k, c_.M);
    const double* mu = mean.row(n).data();
    v[n] = c_.weights.sum();
    if (RowIsCertain(var, n)) {
      spectral_mixture::Plain(c_, mu, tape.k);
      MapVector Sk(tape.Sk, c_.M);
      Sk.noalias() = S_ * k;
      m[n] = k.dot(a_);
      v[n] -= k.dot(Sk);
    } else {
      FATHOM_CHECK(uncertain_);
      const double* s = var.row(n).data();
      spectral_mixture::Psi1(c_, {mu, s}, a_, tape.k, tape.slope);
      m[n] = k.dot(a_);
      v[n] += spectral_mixture::Psi2(c_, {mu, s}, B_) - m[n] * m[n];
      for (Index d = 0; d < w_.size(); ++d) v[n] += w_[d] * s[d] * (w_[d] + 2 * tape.slope[d]);
    }
    for (Index d = 0; d < w_.size(); ++d) m[n] += w_[d] * mu[d];
  }
}

// A row without variance.
void SpectralMixtureProjection::AddZeroVarianceSlopes(const double* x, const Vector& d_k,
                                                      double d_v, Vector* d_s) const {
  Vector first(c_.M);
  Vector second(c_.M);
  Vector S_first(c_.M);
  for (Index d = 0; d < c_.D; ++d) {
    spectral_mixture::PlainAlong(c_, x, d, first.data(), second.data());
    S_first.noalias() = S_ * first;
    (*d_s)[d] +=
        ZeroVarianceSlope({first, second, S_first, 0, w_.size() > 0 ? w_[d] : 0}, a_, d_k, d_v);
  }
}

void SpectralMixtureProjection::Backward(const Input& x, double* tape_memory, const Slopes& d_out,
                                         double* sums_memory, const InputSlopes& d_x) const {
  const auto& [mean, var] = x;
  const auto& [d_m, d_v] = d_out;
  const Sums sums(c_, sums_memory);
  MapVector a_sum(sums.a, c_.M);
  Vector d_mu(c_.D);
  Vector d_s(c_.D);
  Vector d_k(c_.M);
  Vector kappa = Vector::Zero(c_.D);
  for (Index n = 0; n < mean.rows(); ++n) {
    const Tape tape(c_, n, tape_memory);
    const MapVector k(tape.k, c_.M);
    const double* mu = mean.row(n).data();
    const double g = d_v[n];
    d_mu.setZero();
    d_s.setZero();
    if (w_.size() > 0) d_mu += d_m[n] * w_;
    for (Index q = 0; q < c_.Q; ++q) sums.slopes.weights[q] += g;
    if (RowIsCertain(var, n)) {
      d_k = d_m[n] * a_ - 2 * g * MapVector(tape.Sk, c_.M);
      a_sum += d_m[n] * k;
      MapMatrix(sums.kk, c_.M, c_.M).noalias() += g * k * k.transpose();
      spectral_mixture::PlainBackward(c_, mu, d_k.data(), sums.slopes, d_mu.data());
      if (d_x.var != nullptr) AddZeroVarianceSlopes(mu, d_k, g, &d_s);
    } else {
      const double* s = var.row(n).data();
      // The linear mean's term 2 w s slope is kappa slope, and kappa moves with s.
      for (Index d = 0; d < w_.size(); ++d) {
        kappa[d] = 2 * g * w_[d] * s[d];
        d_s[d] += g * w_[d] * (w_[d] + 2 * tape.slope[d]);
      }
      spectral_mixture::Psi1Backward(c_, {mu, s}, a_, {d_m[n] - 2 * g * k.dot(a_), kappa.data()},
                                     {sums.slopes, sums.a, d_mu.data(), d_s.data()});
      spectral_mixture::Psi2Backward(c_, {mu, s}, B_, g,
                                     {sums.slopes, sums.half, d_mu.data(), d_s.data()});
    }
    if (d_x.mean != nullptr) d_x.mean->row(n) += d_mu.transpose();
    if (d_x.var != nullptr) d_x.var->row(n) += d_s.transpose();
  }
}

void SpectralMixtureProjection::Finish(const double* sums_memory,
                                       LatentFunctionGradient gradient) const {
  const Sums sums(c_, const_cast<double*>(sums_memory));  // NOLINT: read only
  sums.slopes.Finish(c_, gradient.theta, gradient.Z);
  gradient.a += MapVector(sums.a, c_.M);
  gradient.S -= MapMatrix(sums.kk, c_.M, c_.M);
  if (!uncertain_) return;
  const MapMatrix half(sums.half, c_.M, c_.M);
  const Matrix psi2 = half + half.transpose();
  gradient.S -= psi2;
  gradient.a += 2 * (psi2 * a_);
}

}  // namespace fathom
