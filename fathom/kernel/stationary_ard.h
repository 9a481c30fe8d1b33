// Kernels of the distance between scaled inputs, with a lengthscale per input:
//   k(x, x') = variance p(r2),   r2 = sum_q (x_q - x'_q)^2 / l_q^2,   p(0) = 1.
// theta = [variance, l_1, ..., l_D]. A kind says p and its derivatives.
#ifndef FATHOM_KERNEL_STATIONARY_ARD_H_
#define FATHOM_KERNEL_STATIONARY_ARD_H_

#include "fathom/base/export.h"
#include "fathom/kernel/kernel.h"

namespace fathom FATHOM_PUBLIC {

class StationaryArd : public Kernel {
 public:
  using Kernel::Gram;
  std::vector<Block> Blocks(Index input_dim) const override;
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
  // Quadrature serves kinds that know nothing better.
  Index MostUncertainInputs() const override;
  std::unique_ptr<Projection> NewProjection() const override;

 protected:
  using Array = Eigen::Array<double, 1, Eigen::Dynamic>;
  // Both overwrite r2, whose entries are from 0 to kFar, or NaN. p(kFar) must be negligible,
  // because distances beyond it are cut off there. LogSlope must be finite at 0: functions that
  // have no slope, as those of Matern 1/2, do not fit in here.
  static constexpr double kFar = 1e6;
  virtual void Profile(Array* r2) const = 0;   // p(r2)
  virtual void LogSlope(Array* r2) const = 0;  // d log p / d r2
  // r2 becomes dp / d r2 and *second d2p / d r2^2. Where the latter has no limit at r2 = 0 it is 0:
  // it only counts times r2.
  virtual void Derivatives(Array* r2, Array* second) const = 0;

 private:
  // Distances from x to all rows of Z, whose scaled transpose is z [D, M].
  static void SquaredDistances(const Eigen::Ref<const Vector>& scaled_x, const Matrix& z,
                               Array* r2);
};

}  // namespace fathom

#endif  // FATHOM_KERNEL_STATIONARY_ARD_H_
