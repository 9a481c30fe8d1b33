// Spectral mixture kernel: Q Gaussians in the spectrum, that is Q damped cosines,
//   k(x, x') = sum_q weights_q prod_d exp(-2 pi^2 variances_qd t_d^2) cos(2 pi means_qd t_d),
// t = x - x'. theta = [weights [Q], means [Q, D], variances [Q, D]].
//
// Below, A = 4 pi^2 variances and W = 2 pi means. Expectations under x ~ N(mu, diag(s)) are
// products over d of real parts of Gaussian integrals with a complex exponent:
//   psi1: sum_q weights_q prod_d Re R,  h = 1/(1 + A s),  delta = mu - z,   [spectral-mixture-psi1]
//         R = h^1/2 exp(-1/2 h (A delta^2 + W^2 s) + i W h delta)
//   psi2: sum_qr weights_q weights_r prod_d 1/2 Re(R+ + R-), since the     [spectral-mixture-psi2]
//         product of two cosines is half the cosine of the sum plus half that of the difference.
//         With A of q and B of r, H = A + B, h = 1/(1 + H s), c = (A z_i + B z_j)/H and the means
//         of x - z_i and x - z_j under the product of the three Gaussians
//           tau_i = h (mu - c) - (z_i - z_j) B/H,   tau_j = h (mu - c) + (z_i - z_j) A/H,
//         R+- = h^1/2 exp(-1/2 [H h (mu - c)^2 + (z_i - z_j)^2 AB/H + h s W+-^2]
//                         + i (W_q tau_i +- W_r tau_j)),   W+- = W_q +- W_r.
#ifndef FATHOM_KERNEL_SPECTRAL_MIXTURE_H_
#define FATHOM_KERNEL_SPECTRAL_MIXTURE_H_

#include "fathom/kernel/kernel.h"

namespace fathom {

class SpectralMixture : public Kernel {
 public:
  static constexpr Index kDefaultComponents = 2;
  static constexpr Index kMostComponents = 100;

  explicit SpectralMixture(Index components = kDefaultComponents);

  // "spectral_mixture" for the default number of components, else "spectral_mixture:Q".
  std::string Name() const override;
  std::vector<Block> Blocks(Index input_dim) const override;
  // Equal weights and the envelope of a squared exponential with that lengthscale; the first
  // component hardly swings within it, each further one by one radian more.
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

 private:
  Index components_;
};

}  // namespace fathom

#endif  // FATHOM_KERNEL_SPECTRAL_MIXTURE_H_
