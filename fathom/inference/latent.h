// The functions inside a trained deep GP, for looking at them: what each layer makes of its inputs.
#ifndef FATHOM_INFERENCE_LATENT_H_
#define FATHOM_INFERENCE_LATENT_H_

#include <vector>

#include "fathom/inference/pass.h"

namespace fathom {

class LatentFunctions {
 public:
  // Conditions the model once, O(M^3). Keeps a reference to the pool.
  LatentFunctions(DeepGp model, const ThreadPool& pool);

  // Moments [N, outputs] of one layer's functions, with the layer's noise if it is hidden.
  // `below`: the raw inputs for layer 0, else hidden units of the layer below (certain ones show
  // the function itself). `raw` stands beside them in a layer with skip links and is not looked at
  // otherwise.
  Moments Layer(Index layer, const Moments& below, const Moments& raw) const;

  // One entry per layer: the moments of its outputs when x [N, inputs], standardised, flows through
  // the network. The last entry is the latent prediction.
  std::vector<Moments> AllLayers(const Moments& x) const;

 private:
  DeepGp model_;
  const ThreadPool& pool_;
  ConditionedModel gps_;
  Network network_;
};

}  // namespace fathom

#endif  // FATHOM_INFERENCE_LATENT_H_
