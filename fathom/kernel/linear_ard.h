// Linear kernel with a variance per input, the prior of linear regression without intercept:
//   k(x, x') = sum_d variances_d x_d x'_d.
// theta = [variances_1, ..., variances_D].
//
// With V = diag(variances), c = V Z'a, Q = V - V Z'S Z V and x ~ N(mu, diag(s)), everything that a
// row needs is of size D, whatever M is:
//   m = (c + w)'mu                                                             [linear-ard-moments]
//   v = mu'Q mu + sum_d s_d (Q_dd + (c_d + w_d)^2)
// because psi0 = tr(V E[xx']), psi1 a = c'mu and <B, psi2> = tr((cc' - V Z'S Z V) E[xx']); the
// linear mean w only adds to the slope c.
#ifndef FATHOM_KERNEL_LINEAR_ARD_H_
#define FATHOM_KERNEL_LINEAR_ARD_H_

#include "fathom/kernel/kernel.h"

namespace fathom {

// A latent function under this kernel, reduced to what a row needs.            [linear-ard-moments]
struct LinearMoments {
  explicit LinearMoments(const LatentFunction& function);
  Vector slope;  // [D]     c + w
  Matrix Q;      // [D, D]
  Matrix A;      // [M, D]  Z V
  Matrix SA;     // [M, D]  S Z V
};

class LinearArd : public Kernel {
 public:
  std::string Name() const override { return "linear_ard"; }
  std::vector<Block> Blocks(Index input_dim) const override;
  // k(x, x) = 1 for an x at distance `lengthscale` from the origin.
  Vector InitialParameters(Index input_dim, double lengthscale) const override;
  using Kernel::Gram;
  void Gram(const Vector& theta, const Matrix& Z, Matrix* K, AlignedBuffer* scratch) const override;
  void GramBackward(const Vector& theta, const Matrix& Z, const Matrix& K, const Matrix& dK,
                    Vector* d_theta, Matrix* dZ, AlignedBuffer* scratch) const override;
  Vector SlopeVariance(const Vector& theta, Index input_dim) const override;
  std::unique_ptr<Projection> NewProjection() const override;
};

}  // namespace fathom

#endif  // FATHOM_KERNEL_LINEAR_ARD_H_
