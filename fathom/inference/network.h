// A deep GP made ready for rows: every GP conditioned on its cavity (or posterior), every kernel
// projection prepared. Rows then flow up through Forward and their gradients down through Backward,
// layer by layer, tile by tile: the paper's probabilistic backpropagation. The sums that the tiles
// leave behind become the gradient in Finish.
#ifndef FATHOM_INFERENCE_NETWORK_H_
#define FATHOM_INFERENCE_NETWORK_H_

#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "fathom/base/aligned.h"
#include "fathom/base/threads.h"
#include "fathom/model/deep_gp.h"

namespace fathom {

class Network {
 public:
  // What one layer remembers of a tile between Forward and Backward.
  struct LayerTape {
    Moments input;                         // [rows, inputs], skip links included
    Matrix latent_var;                     // [rows, outputs], before clamping and noise
    std::vector<AlignedBuffer> functions;  // the projections' tapes
    Vector m, v;                           // of one function; scratch
    Moments d_input;                       // scratch of Backward
  };

  // Sums over rows, from which Finish makes the gradient. They add up, so tiles can be summed in
  // any grouping.
  struct Sums {
    double log_z = 0;
    std::vector<std::vector<AlignedBuffer>> functions;  // [layer][function]
    std::vector<Vector> noise;                          // [layer]
    Vector likelihood;
    Matrix points;             // of a model with points, as in DeepGp
    Vector point_log_weights;  // with respect to the logarithms of the normalised weights
    void AddFunction(Index layer, Index function, const Sums& other);
    void AddRest(const Sums& other);  // all but the functions
    void Add(const Sums& other);
  };

  // O(M^3) per function, on all threads. options.uncertain: whether a raw input may have variance.
  // The model must outlive the network. Throws NumericalError.
  void Prepare(const DeepGp& model, const Cavity& cavity, const ProjectionOptions& options,
               const ThreadPool& pool);

  // For inference that gives each row cavities of its own: Attach takes the model's shape,
  // SetCavity one function's distribution as it is. FactorEnergy, LargestJitter and Finish do not
  // apply then.
  void Attach(const DeepGp& model, const ProjectionOptions& options);
  void SetCavity(Index layer, Index function, const Conditioned& cavity);

  const DeepGp& model() const { return *model_; }
  bool uncertain_inputs() const { return options_.uncertain; }
  // The GPs' own share of the energy, summed over functions and layers.
  double FactorEnergy() const;
  // The largest jitter that a kernel matrix needed.
  double LargestJitter() const;
  const PreparedGp& prepared(Index layer, Index function) const { return gps_[layer][function]; }

  // Gives a tape the memory for a tile of that many rows. Forward does it too; beforehand it serves
  // tapes that must not allocate later.
  void Reserve(Index layer, Index rows, LayerTape* tape) const;
  // below [rows, .]: the raw inputs for layer 0, else the hidden units of the layer below, to which
  // `raw` is appended where the layer has skip links. out [rows, outputs]: moments of the layer's
  // outputs with its noise (none in the last layer).
  void Forward(Index layer, const Moments& below, const Moments& raw, LayerTape* tape,
               Moments* out) const;
  // Consumes the tape. Writes d_below unless null (layer 0: nobody asks).
  void Backward(Index layer, const Moments& d_out, LayerTape* tape, Sums* sums,
                Moments* d_below) const;
  void ResetSums(Sums* sums) const;
  Index SumsBytes() const;  // memory of one Sums
  // Adds the others to the first: function by function on all threads, in the order of the sums.
  void AddToFirst(std::span<Sums> sums, const ThreadPool& pool) const;

  // Adds what the sums stand for in one function: the gradient with respect to its kernel,
  // pseudo-inputs and cavity.
  void FinishFunction(Index layer, Index function, const Sums& sums,
                      LatentFunctionGradient gradient) const;
  // Once per Prepare. Gradient of FactorEnergy() + scale * (what the sums stand for), written to
  // *gradient, a DeepGp of the model's shape. Layers from `first_other` on, if any, had their rows
  // elsewhere: `other` adds the gradient of all functions of such a layer.
  using FinishLayer = std::function<void(Index layer, std::vector<LatentFunctionGradient>*)>;
  void Finish(const Sums& sums, double scale, const ThreadPool& pool, DeepGp* gradient,
              Index first_other = std::numeric_limits<Index>::max(),
              const FinishLayer& other = nullptr);

 private:
  bool Uncertain(Index layer) const;  // whether the layer's inputs may have variance

  const DeepGp* model_ = nullptr;
  Cavity cavity_;
  ProjectionOptions options_;
  std::vector<std::vector<PreparedGp>> gps_;
  std::vector<std::vector<std::unique_ptr<Projection>>> projections_;
  std::vector<std::vector<Vector>> mean_weights_;
  std::vector<std::pair<Index, Index>> flat_;  // all (layer, function), for the threads
};

}  // namespace fathom

#endif  // FATHOM_INFERENCE_NETWORK_H_
