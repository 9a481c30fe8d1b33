#include "fathom/kernel/full_layer.h"

#include "fathom/base/error.h"

namespace fathom {

void CheckFunctions(const std::vector<LatentFunction>& functions) {
  if (functions.empty()) ThrowError("a layer needs at least one latent function");
  for (const LatentFunction& f : functions) {
    Require(f.Z.cols() == functions[0].Z.cols(), "the input dimension of every function of a layer",
            "that of the first", f.Z.cols());
  }
}

void CheckInput(const FullMoments& x, Index D) {
  Require(x.cols() == D, "the dimension of the inputs", "that of the pseudo-inputs", x.cols());
  Require(static_cast<Index>(x.cov.size()) == x.rows(), "the number of covariance matrices",
          "the number of rows", x.cov.size());
  for (Index n = 0; n < x.rows(); ++n) {
    if (x.cov[n].rows() == D && x.cov[n].cols() == D) continue;
    ThrowError("the covariance of row ", n, " must be ", D, " x ", D, ", not ", x.cov[n].rows(),
               " x ", x.cov[n].cols());
  }
}

FullMoments PropagateFull(const Kernel& kernel, const std::vector<LatentFunction>& functions,
                          const FullMoments& x) {
  const std::unique_ptr<FullLayer> layer = kernel.NewFullLayer();
  layer->Prepare(functions);
  FullMoments out;
  layer->Forward(x, &out);
  return out;
}

void PropagateFullBackward(const Kernel& kernel, const std::vector<LatentFunction>& functions,
                           const FullMoments& x, const FullMoments& d_out,
                           std::vector<LatentFunctionGradient>* gradients, FullMoments* d_x) {
  const std::unique_ptr<FullLayer> layer = kernel.NewFullLayer();
  layer->Prepare(functions);
  AlignedBuffer sums(static_cast<std::size_t>(layer->SumsSize()), 0.0);
  layer->Backward(x, d_out, sums.data(), d_x);
  layer->Finish(sums.data(), gradients);
}

}  // namespace fathom
