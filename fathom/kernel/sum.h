// A sum of kernels, that of independent functions added up:
//   k(x, x') = k_1(x, x') + k_2(x, x') + ...
// theta is the parts' thetas one after the other, and a block "variance" of the part "se_ard" is
// named "se_ard.variance".
//
// Under uncertain inputs a sum needs cross terms E[k_1(x, z) k_2(x, z')]. Those of se_ard with
// linear_ard are closed (se_linear_projection.h, se_linear_full_layer.h); other sums take
// quadrature.
#ifndef FATHOM_KERNEL_SUM_H_
#define FATHOM_KERNEL_SUM_H_

#include "fathom/kernel/kernel.h"

namespace fathom {

class Sum : public Kernel {
 public:
  // At least two, none of them a sum. Linear parts are put last.
  explicit Sum(std::vector<std::shared_ptr<const Kernel>> parts);

  std::string Name() const override;  // the parts' names with '+' between them
  std::vector<Block> Blocks(Index input_dim) const override;
  // Each part has an equal share of the unit size.
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
  Index MostUncertainInputs() const override;
  std::unique_ptr<Projection> NewProjection() const override;
  std::unique_ptr<FullLayer> NewFullLayer() const override;

 private:
  // Calls act(part, begin, size) with each part's place in theta.
  template <typename Act>
  void ForEachPart(Index input_dim, const Act& act) const;
  bool IsSeLinear() const;

  std::vector<std::shared_ptr<const Kernel>> parts_;
};

}  // namespace fathom

#endif  // FATHOM_KERNEL_SUM_H_
