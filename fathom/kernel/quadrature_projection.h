// The way of a tile of rows through a kernel that is known by its values alone. A row with
// uncertain inputs becomes a grid of certain ones, its nodes x_g with weights w_g: a product of
// Gauss-Hermite rules over the inputs that have variance. By the laws of total expectation and
// variance,
//   m = sum_g w_g m_g,   v = sum_g w_g (v_g + (m_g - m)^2),                  [quadrature-moments]
//   m_g = k'a + w'x_g,   v_g = k(x_g, x_g) - k'Sk,   k = k(x_g, Z).
// A certain row is its own single node. The number of nodes grows with the power of the number of
// uncertain inputs, so there may be but a few.
//
// Accuracy for the Matern kernels, whose derivatives jump at the pseudo-inputs, in one to three
// dimensions: m and v of functions with unit variance and lengthscale are right to 2e-5 for inputs
// of variance 0.01, to 2e-3 for 0.1, and to no more than 0.1 for 1, where a grid this coarse misses
// features (tested).
#ifndef FATHOM_KERNEL_QUADRATURE_PROJECTION_H_
#define FATHOM_KERNEL_QUADRATURE_PROJECTION_H_

#include "fathom/base/aligned.h"
#include "fathom/kernel/kernel.h"

namespace fathom {

class QuadratureProjection : public Projection {
 public:
  static constexpr Index kMostUncertainInputs = 3;
  // Nodes per uncertain input, for 0, 1, 2 and 3 of them.
  static constexpr Index kNodes[kMostUncertainInputs + 1] = {1, 16, 8, 6};

  // The kernel must outlive this.
  explicit QuadratureProjection(const Kernel& kernel) : kernel_(kernel) {}

  void Prepare(const LatentFunction& function, const ProjectionOptions& options) override;
  Index TapeSize(Index rows) const override;
  Index SumsSize() const override;
  // Throws Error if a row has more than kMostUncertainInputs.
  void Forward(const Input& x, double* tape, double* m, double* v) const override;
  void Backward(const Input& x, double* tape, const Slopes& d_out, double* sums,
                const InputSlopes& d_x) const override;
  void Finish(const double* sums, LatentFunctionGradient gradient) const override;

 private:
  struct Tape;
  struct Sums;

  Index MostNodes() const;  // of a row
  // The nodes of all rows, one row after the other; their number.
  Index Expand(const Rows& mean, const Rows& var, const Tape& tape) const;
  void AddZeroVarianceSlopes(const Rows& var, const Tape& tape, Index nodes,
                             Eigen::Ref<Matrix>* d_var) const;

  const Kernel& kernel_;
  bool uncertain_ = false;
  Vector theta_, a_, w_;
  Matrix Z_;
  Index padded_ = 0;  // M rounded up
  AlignedBuffer S_;   // [M, padded]
};

}  // namespace fathom

#endif  // FATHOM_KERNEL_QUADRATURE_PROJECTION_H_
