// A layer of latent functions under jointly Gaussian inputs, with all covariances of its outputs:
// what a Projection is for one function under independent inputs. The functions are independent
// given x, but all see the same uncertain x.
#ifndef FATHOM_KERNEL_FULL_LAYER_H_
#define FATHOM_KERNEL_FULL_LAYER_H_

#include <memory>
#include <vector>

#include "fathom/kernel/kernel.h"

namespace fathom {

// Prepare once per step; Forward and Backward on any groups of rows, from any number of threads;
// Finish once with the sums over all of them.
class FullLayer {
 public:
  virtual ~FullLayer() = default;

  // Throws Error unless there is a function and all have one input dimension.
  virtual void Prepare(const std::vector<LatentFunction>& functions) = 0;

  // out: mean and covariance of all outputs per row, without noise. Throws Error if x has other
  // dimensions than the functions, NumericalError if a covariance is not positive semidefinite.
  virtual void Forward(const FullMoments& x, FullMoments* out) const = 0;
  // `sums` is an array of SumsSize() doubles that starts at zero; sums of several groups of rows
  // may be kept apart and added.
  virtual Index SumsSize() const = 0;
  // d_out.cov need not be symmetric: F may weigh the two copies of a covariance differently. Adds
  // to sums; writes *d_x (covariances symmetric) unless null.
  virtual void Backward(const FullMoments& x, const FullMoments& d_out, double* sums,
                        FullMoments* d_x) const = 0;
  // Adds the gradients that the sums stand for, function by function.
  virtual void Finish(const double* sums, std::vector<LatentFunctionGradient>* gradients) const = 0;
};

// Throw Error with what is wrong.
void CheckFunctions(const std::vector<LatentFunction>& functions);
void CheckInput(const FullMoments& x, Index D);

// The same in one call each, for callers without a loop over groups of rows; of a kernel that has a
// FullLayer.
FullMoments PropagateFull(const Kernel& kernel, const std::vector<LatentFunction>& functions,
                          const FullMoments& x);
// Adds to *gradients; writes *d_x unless null.
void PropagateFullBackward(const Kernel& kernel, const std::vector<LatentFunction>& functions,
                           const FullMoments& x, const FullMoments& d_out,
                           std::vector<LatentFunctionGradient>* gradients, FullMoments* d_x);

}  // namespace fathom

#endif  // FATHOM_KERNEL_FULL_LAYER_H_
