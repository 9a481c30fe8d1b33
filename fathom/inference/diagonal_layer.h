// A layer whose functions are projected one by one: independent inputs, independent outputs.
#ifndef FATHOM_INFERENCE_DIAGONAL_LAYER_H_
#define FATHOM_INFERENCE_DIAGONAL_LAYER_H_

#include <memory>
#include <vector>

#include "fathom/base/aligned.h"
#include "fathom/inference/sums.h"
#include "fathom/model/deep_gp.h"

namespace fathom {

class DiagonalLayer {
 public:
  // What the layer remembers of a tile between Forward and Backward.
  struct Tape {
    Moments input;                         // [rows, inputs], skip links included
    Matrix latent_var;                     // [rows, outputs], before clamping and noise
    std::vector<AlignedBuffer> functions;  // the projections' tapes
    Vector m, v;                           // scratch for one function
    Moments d_input;                       // [rows, inputs]: what Backward found
  };
  // Which derivatives with respect to the inputs Backward is to find.
  enum class Wanted { kNone, kMean, kMeanAndVar };

  // Layer number `number` of a network. It must outlive this; its functions are then to be Set.
  void Reset(const GpLayer& layer, Index number, const ProjectionOptions& options);
  void Set(Index function, const Conditioned& conditioned);

  Index SumsSize(Index function) const;  // 0 for a function that was not set
  // Gives a tape the memory for that many rows, so that Forward and Backward allocate nothing.
  void Reserve(Index rows, Tape* tape) const;
  // below [rows, .]: the hidden units of the layer below or, for layer 0, the raw inputs; `raw` is
  // appended to them where the layer has skip links. out [rows, outputs]: moments of the layer's
  // outputs with its noise.
  void Forward(const Moments& below, const Moments& raw, Tape* tape, Moments* out) const;
  // Consumes the tape, but for tape->d_input, which it writes as far as wanted. Adds to the layer's
  // parts of *sums.
  void Backward(const Moments& d_out, Wanted wanted, Tape* tape, Sums* sums) const;
  // Adds what the sums stand for in one function: the gradient with respect to its kernel,
  // pseudo-inputs, a and S.
  void Finish(Index function, const Sums& sums, LatentFunctionGradient gradient) const;

 private:
  const GpLayer* layer_ = nullptr;
  Index number_ = 0;
  ProjectionOptions options_;
  std::vector<std::unique_ptr<Projection>> projections_;
  std::vector<Vector> mean_weights_;
};

}  // namespace fathom

#endif  // FATHOM_INFERENCE_DIAGONAL_LAYER_H_
