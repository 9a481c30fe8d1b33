// The sum of the SE-ARD and the linear kernel on its way through a tile of rows, in closed form.
// theta = [variance, l_1, ..., l_D, variances_1, ..., variances_D].
//
// With V = diag(variances), A = Z V and k(x, Z) = k_se(x, Z) + A x, the mean of f given x is
// k_se(x, Z)'a + (c + w)'x, c = A'a: that of the SE-ARD kernel with the linear mean c + w. So its
// projection gives everything but the linear kernel's share in the spread of f given x,
//   x'V x - 2 k_se'S A x - (A x)'S A x,   in expectation                       [se-linear-moments]
//   mu'Q mu + sum_q s_q Q_qq - 2 sum_i psi1_i sum_q (S A)_iq xhat_iq,   Q = V - A'S A,
// for x ~ N(mu, diag(s)). The cross term holds because k_se(x, z_i) N(x; mu, diag(s)) is psi1_i
// times a Gaussian with the mean
//   xhat_iq = mu_q + r_q (z_iq - mu_q),   r_q = s_q / (l_q^2 + s_q).
#ifndef FATHOM_KERNEL_SE_LINEAR_PROJECTION_H_
#define FATHOM_KERNEL_SE_LINEAR_PROJECTION_H_

#include "fathom/kernel/linear_ard.h"
#include "fathom/kernel/se_ard_projection.h"

namespace fathom {

class SeLinearProjection : public Projection {
 public:
  void Prepare(const LatentFunction& function, const ProjectionOptions& options) override;
  Index TapeSize(Index rows) const override;
  Index SumsSize() const override;
  void Forward(const Input& x, double* tape, double* m, double* v) const override;
  void Backward(const Input& x, double* tape, const Slopes& d_out, double* sums,
                const InputSlopes& d_x) const override;
  void Finish(const double* sums, LatentFunctionGradient gradient) const override;

 private:
  struct Tape;
  struct Sums;

  Index M_ = 0;
  Index D_ = 0;
  Index padded_ = 0;  // M rounded up
  Vector se_theta_, a_;
  AlignedBuffer z_;   // [D, padded]
  AlignedBuffer SA_;  // [D, padded]
  SeArdProjection se_;
  LinearMoments linear_;
};

}  // namespace fathom

#endif  // FATHOM_KERNEL_SE_LINEAR_PROJECTION_H_
