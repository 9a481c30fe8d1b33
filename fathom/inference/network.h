// A deep GP made ready for rows: its layers, each function with a Conditioned from wherever it
// comes (a model's cavities or posteriors, or one row's own cavity). Rows flow up through Forward
// and their gradients down through Backward, layer by layer; Pass (pass.h) does that for a tile of
// rows. The sums that the tiles leave behind become the gradient in Finish.
#ifndef FATHOM_INFERENCE_NETWORK_H_
#define FATHOM_INFERENCE_NETWORK_H_

#include <variant>
#include <vector>

#include "fathom/base/threads.h"
#include "fathom/inference/diagonal_layer.h"
#include "fathom/inference/joint_layer.h"
#include "fathom/inference/sums.h"
#include "fathom/model/conditioned_model.h"

namespace fathom {

// What a layer hands on to the next for some rows: independent Gaussians, or one joint Gaussian per
// row in a network that keeps the covariances. The raw inputs are always independent.
struct Handed {
  Moments moments;
  FullMoments joint;
};

struct NetworkOptions {
  bool uncertain = false;  // whether a raw input may have variance
  bool backward = true;    // whether Backward will be called: Forward alone does less
  bool variance = true;    // whether the variances of the last layer are looked at
  bool joint = false;      // whether the layers hand on the covariances of their outputs
  // Whether the gradient with respect to the raw inputs will be asked for. With covariances the
  // first layer then keeps them, too: they grow with the variance of an input, even from 0.
  bool inputs = false;
  Precision precision = Precision::kDouble;
};

// Throws Error where covariances are to be handed on by kernels that cannot.
void CheckNetwork(const DeepGp& model, const NetworkOptions& options);

class Network {
 public:
  // What one layer remembers of a tile between Forward and Backward.
  struct LayerTape {
    DiagonalLayer::Tape diagonal;
    JointLayer::Tape joint;
  };

  // All functions, on all threads. The model must outlive the network. Throws as CheckNetwork does.
  void Prepare(const DeepGp& model, const NetworkOptions& options, const ConditionedModel& gps,
               const ThreadPool& pool);
  // For rows with cavities of their own: a network without covariances whose functions are Set one
  // by one. Layers whose functions are not set cannot be passed through.
  void Reset(const DeepGp& model, const NetworkOptions& options);
  void Set(Index layer, Index function, const Conditioned& conditioned);

  const DeepGp& model() const { return *model_; }
  const NetworkOptions& options() const { return options_; }

  // Gives a tape the memory for that many rows; before Forward.
  void Reserve(Index layer, Index rows, LayerTape* tape) const;
  // below [rows, .]: the raw inputs for layer 0, else what the layer below handed on. `raw`
  // [rows, .] is appended to it in a layer with skip links and not looked at otherwise. *out: what
  // the layer hands on, its noise included (there is none in the last layer).
  void Forward(Index layer, const Handed& below, const Moments& raw, LayerTape* tape,
               Handed* out) const;
  // Where Backward puts the derivatives with respect to a layer's inputs; null for those that are
  // not wanted. It writes *below and, in a layer with skip links, adds to *raw.
  struct InputGradient {
    Handed* below = nullptr;
    Moments* raw = nullptr;
    bool var = true;  // whether the derivatives with respect to the variances are wanted, too
  };
  // Consumes the tape. Adds to *sums.
  void Backward(Index layer, const Handed& d_out, const InputGradient& d_input, LayerTape* tape,
                Sums* sums) const;

  // Gives the sums the layout of this network and sets them to zero.
  void ResetSums(Sums* sums) const;
  Index SumsBytes() const;

  // Adds what the sums stand for in one function: the gradient with respect to its kernel,
  // pseudo-inputs, a and S. For a network without covariances.
  void FinishFunction(Index layer, Index function, const Sums& sums,
                      LatentFunctionGradient gradient) const;
  // Writes the gradient of the rows, as far as the sums are known: for the functions in the share
  // of *gps. *gradient gets everything except the posteriors; what belongs to no GP (noises,
  // likelihood, points) is multiplied by `scale`. *gps gets the gradient with respect to a and S.
  void Finish(const Sums& sums, double scale, const ThreadPool& pool, ConditionedModel* gps,
              DeepGp* gradient) const;

 private:
  using Layer = std::variant<DiagonalLayer, JointLayer>;
  bool Uncertain(Index layer) const;  // whether the layer's inputs may have variance
  const DiagonalLayer& diagonal(Index layer) const {
    return std::get<DiagonalLayer>(layers_[layer]);
  }

  const DeepGp* model_ = nullptr;
  NetworkOptions options_;
  std::vector<Layer> layers_;
  std::vector<std::pair<Index, Index>> flat_;  // the functions of diagonal layers, for the threads
};

}  // namespace fathom

#endif  // FATHOM_INFERENCE_NETWORK_H_
