// A deep GP: a value that can be copied, saved and predicted with. It knows no data and no
// optimiser. A gradient with respect to a DeepGp is a DeepGp of the same shape.
#ifndef FATHOM_MODEL_DEEP_GP_H_
#define FATHOM_MODEL_DEEP_GP_H_

#include <memory>
#include <string>
#include <vector>

#include "fathom/likelihood/likelihood.h"
#include "fathom/model/architecture.h"
#include "fathom/model/sparse_gp.h"

namespace fathom {

struct GpLayer {
  std::vector<SparseGp> gps;  // one per output of the layer
  // [outputs] of a hidden layer; empty in the last one, whose noise is the likelihood's.
  Vector noise_variance;
  Matrix mean_weights;  // [inputs, outputs] of a fixed linear mean, or empty
  bool skip = false;    // the inputs are [hidden units below, raw inputs]
  bool shared = false;  // all functions have the kernel parameters and pseudo-inputs of gps[0]

  Index outputs() const { return static_cast<Index>(gps.size()); }
  Index inputs() const { return gps.front().input_dim(); }
};

struct DeepGp {
  std::vector<GpLayer> layers;
  std::shared_ptr<const Likelihood> likelihood;
  Vector likelihood_parameters;
  double jitter = kJitter;
  // Moments between layers keep the covariances of a layer's outputs, from the second layer on.
  bool full_covariance = false;
  Propagation propagation = Propagation::kMoments;
  Index samples = 0;     // kSamples: paths per row in training
  Matrix points;         // kPoints: [paths, hidden units], in standard deviations from the mean
  Vector point_weights;  // kPoints: [paths], positive; their sum does not matter

  Index input_dim() const { return layers.front().inputs(); }
  Index outputs() const { return layers.back().outputs(); }
  Index num_layers() const { return static_cast<Index>(layers.size()); }
  // The place of a layer's first unit among the hidden units of all layers.
  Index first_unit(Index layer) const;
  Index num_hidden_units() const { return first_unit(num_layers() - 1); }
  // Paths per row in training; 0 where moments are propagated.
  Index num_paths() const { return propagation == Propagation::kPoints ? points.rows() : samples; }
  DeepGp ZeroLike() const;
};

// Throws Error naming the first shape that does not fit, or the first parameter that is not finite
// or not positive where it must be. What comes from a file is checked by this before use.
void CheckModel(const DeepGp& model);

// How a parameter array enters the optimiser and a file.
enum class ParameterKind {
  kFree,           // any number
  kPositive,       // optimised as its logarithm
  kNoise,          // positive, and kept above the noise floor
  kLowerTriangle,  // [M, M] row-major; lower triangle, diagonal optimised as its logarithm
};

struct ParameterArray {
  std::string name;  // "layers.0.gps.1.Z"
  ParameterKind kind;
  std::vector<Index> shape;
  double* data;
  Index size;
  bool posterior = false;  // part of a function's posterior, not a hyperparameter
};

// All parameters in a fixed order. A shared layer lists kernel parameters and pseudo-inputs once,
// as those of gps[0]; after writing to them, call SpreadShared; of a gradient, call GatherShared
// before reading it.
std::vector<ParameterArray> Parameters(DeepGp* model);
void SpreadShared(DeepGp* model);
void GatherShared(DeepGp* gradient);

}  // namespace fathom

#endif  // FATHOM_MODEL_DEEP_GP_H_
