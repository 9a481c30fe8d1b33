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
class LinearMoments {
 public:
  // `variances` is the part of the function's theta that belongs to this kernel.
  void Prepare(const LatentFunction& function, const Eigen::Ref<const Vector>& variances);
  // Adds to d_variances and to Z, a and S of the gradient. dQ and dSA may be of any symmetry; dSA
  // is null for zero.
  void Backward(const Vector& d_slope, const Matrix& dQ, const Matrix* dSA,
                Eigen::Ref<Vector> d_variances, LatentFunctionGradient* gradient) const;

  const Vector& slope() const { return slope_; }  // [D]     c + w
  const Matrix& Q() const { return Q_; }          // [D, D]
  const Matrix& SA() const { return SA_; }        // [M, D]  S Z V

 private:
  Vector variances_, a_, slope_;
  Matrix Z_, S_, Q_, SA_;
  Matrix A_;  // [M, D]  Z V
};

class LinearArd : public Kernel {
 public:
  std::string Name() const override { return "linear_ard"; }
  std::vector<Block> Blocks(Index input_dim) const override;
  // k(x, x) = 1 for an x at distance `lengthscale` from the origin.
  Vector InitialParameters(Index input_dim, double lengthscale) const override;
  void Cross(const Vector& theta, const Rows& X, const Matrix& Z,
             Eigen::Ref<Matrix> K) const override;
  void CrossBackward(const Vector& theta, const Rows& X, const Matrix& Z, const Rows& K,
                     const Rows& dK, CrossGradient gradient) const override;
  void Diagonal(const Vector& theta, const Rows& X, Eigen::Ref<Vector> k) const override;
  void DiagonalBackward(const Vector& theta, const Rows& X, const Eigen::Ref<const Vector>& dk,
                        Eigen::Ref<Vector> d_theta, Eigen::Ref<Matrix>* dX) const override;
  void CrossAlong(const Vector& theta, const Rows& X, const Matrix& Z, Index input,
                  Along* out) const override;
  Vector SlopeVariance(const Vector& theta, Index input_dim) const override;
  std::unique_ptr<Projection> NewProjection() const override;
  std::unique_ptr<FullLayer> NewFullLayer() const override;
};

}  // namespace fathom

#endif  // FATHOM_KERNEL_LINEAR_ARD_H_
