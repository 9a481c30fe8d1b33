// A layer of functions under the sum of the SE-ARD and the linear kernel, and jointly Gaussian
// inputs N(mu, Sigma). As in se_linear_projection.h, the mean of f given x is that of the SE-ARD
// kernel with the linear mean c + w, whose layer gives all covariances; the linear kernel adds to
// the variance of each function
//   mu'Q mu + <Q, Sigma> - 2 sum_q [mu_q b_q + (Sigma db_q/dmu)_q],       [se-linear-moments-full]
//   b_q = psi1 (S A)_q,
// since E[k_se x_q] = mu_q psi1 + (Sigma dpsi1/dmu)_q by Stein's lemma.
#ifndef FATHOM_KERNEL_SE_LINEAR_FULL_LAYER_H_
#define FATHOM_KERNEL_SE_LINEAR_FULL_LAYER_H_

#include "fathom/kernel/linear_ard.h"
#include "fathom/kernel/se_ard_full_layer.h"

namespace fathom {

class SeLinearFullLayer : public FullLayer {
 public:
  void Prepare(const std::vector<LatentFunction>& functions) override;
  void Forward(const FullMoments& x, FullMoments* out) const override;
  Index SumsSize() const override;
  void Backward(const FullMoments& x, const FullMoments& d_out, double* sums,
                FullMoments* d_x) const override;
  void Finish(const double* sums, std::vector<LatentFunctionGradient>* gradients) const override;

 private:
  struct Sums;
  struct Function {
    Vector se_theta;
    Matrix Z;
    LinearMoments linear;
    std::vector<se_ard::Bumps> cross;  // [D]: b_q
    se_ard::Points points() const { return {se_theta, Z}; }
  };

  SeArdFullLayer se_;
  std::vector<Function> functions_;
};

}  // namespace fathom

#endif  // FATHOM_KERNEL_SE_LINEAR_FULL_LAYER_H_
