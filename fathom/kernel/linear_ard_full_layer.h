// A layer of functions under the linear kernel and jointly Gaussian inputs N(mu, Sigma). With the
// slopes b_i = c_i + w_i and Q_i as in linear_ard.h,
//   E f_i         = b_i'mu                                                   [linear-moments-full]
//   Cov(f_i, f_j) = b_i'Sigma b_j,   and for i = j also  mu'Q_i mu + <Q_i, Sigma>.
#ifndef FATHOM_KERNEL_LINEAR_ARD_FULL_LAYER_H_
#define FATHOM_KERNEL_LINEAR_ARD_FULL_LAYER_H_

#include "fathom/kernel/full_layer.h"
#include "fathom/kernel/linear_ard.h"

namespace fathom {

class LinearArdFullLayer : public FullLayer {
 public:
  void Prepare(const std::vector<LatentFunction>& functions) override;
  void Forward(const FullMoments& x, FullMoments* out) const override;
  Index SumsSize() const override;
  void Backward(const FullMoments& x, const FullMoments& d_out, double* sums,
                FullMoments* d_x) const override;
  void Finish(const double* sums, std::vector<LatentFunctionGradient>* gradients) const override;

 private:
  struct Sums;

  std::vector<LinearMoments> functions_;
  Matrix b_;  // [functions, D]
};

}  // namespace fathom

#endif  // FATHOM_KERNEL_LINEAR_ARD_FULL_LAYER_H_
