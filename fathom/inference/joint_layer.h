// A layer whose inputs, and whose outputs, are one joint Gaussian per row.        [full-covariance]
// Where the covariances are zero it is the diagonal layer.
#ifndef FATHOM_INFERENCE_JOINT_LAYER_H_
#define FATHOM_INFERENCE_JOINT_LAYER_H_

#include <memory>
#include <vector>

#include "fathom/inference/sums.h"
#include "fathom/kernel/full_layer.h"
#include "fathom/model/conditioned_model.h"

namespace fathom {

// Throws Error unless each layer that sees uncertain inputs has one kernel, with expectations under
// a full covariance.
void CheckFullCovariance(const DeepGp& model, bool uncertain_inputs);

class JointLayer {
 public:
  struct Tape {
    FullMoments input;    // skip links included
    FullMoments d_input;  // what Backward found
  };

  // Layer number `number` of the model, which must outlive this, with all its functions.
  void Prepare(const DeepGp& model, Index number, const ConditionedModel& gps);

  Index SumsSize() const { return functions_->SumsSize(); }
  // As in DiagonalLayer. Raw inputs are independent of each other and of the hidden units.
  void Forward(const FullMoments& below, const Moments& raw, Tape* tape, FullMoments* out) const;
  // Adds to the layer's parts of *sums; writes tape->d_input if wanted.
  void Backward(const FullMoments& d_out, bool inputs_wanted, Tape* tape, Sums* sums) const;
  // Adds what the sums stand for, function by function.
  void Finish(const Sums& sums, std::vector<LatentFunctionGradient>* gradients) const;

 private:
  const GpLayer* layer_ = nullptr;
  Index number_ = 0;
  std::unique_ptr<FullLayer> functions_;
};

}  // namespace fathom

#endif  // FATHOM_INFERENCE_JOINT_LAYER_H_
