// Squared exponential kernel with a lengthscale per input (exponentiated quadratic, RBF):
//   k(x, x') = variance exp(-1/2 sum_q (x_q - x'_q)^2 / l_q^2).
// theta = [variance, l_1, ..., l_D].
//
// Expectations under x ~ N(mu, diag(s)), with zbar = (z_i + z_j) / 2:
//   psi0    = variance
//   psi1_i  = variance prod_q (1 + s_q/l_q^2)^-1/2                                          [psi1]
//             exp(-1/2 sum_q (mu_q - z_iq)^2 / (l_q^2 + s_q))
//   psi2_ij = variance^2 prod_q (1 + 2 s_q/l_q^2)^-1/2                                      [psi2]
//             exp(-sum_q [(z_iq - z_jq)^2 / (4 l_q^2) + (mu_q - zbar_q)^2 / (l_q^2 + 2 s_q)])
// The part of psi2's exponent that depends on the row is an inner product of 2D+1 features of the
// row with 2D+1 features of the pair (i, j), or a bilinear form of z_i and z_j about the row's
// mean, to which certain inputs do not contribute: see se_ard_loops.h.
#ifndef FATHOM_KERNEL_SE_ARD_H_
#define FATHOM_KERNEL_SE_ARD_H_

#include <limits>

#include "fathom/kernel/stationary_ard.h"

namespace fathom {

class SeArd : public StationaryArd {
 public:
  std::string Name() const override { return "se_ard"; }
  using Kernel::Gram;
  void Gram(const Vector& theta, const Matrix& Z, Matrix* K, AlignedBuffer* scratch) const override;
  void GramBackward(const Vector& theta, const Matrix& Z, const Matrix& K, const Matrix& dK,
                    GramGradient gradient, AlignedBuffer* scratch) const override;
  Index MostUncertainInputs() const override { return std::numeric_limits<Index>::max(); }
  std::unique_ptr<Projection> NewProjection() const override;
  std::unique_ptr<FullLayer> NewFullLayer() const override;

 protected:
  void Profile(Array* r2) const override;
  void LogSlope(Array* r2) const override;
  void Derivatives(Array* r2, Array* second) const override;
};

}  // namespace fathom

#endif  // FATHOM_KERNEL_SE_ARD_H_
