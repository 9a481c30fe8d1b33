// The shape of a deep GP and where its training starts, as data.
#ifndef FATHOM_MODEL_ARCHITECTURE_H_
#define FATHOM_MODEL_ARCHITECTURE_H_

#include <array>
#include <string>
#include <vector>

#include "fathom/base/enum_names.h"
#include "fathom/base/export.h"
#include "fathom/base/types.h"

namespace fathom FATHOM_PUBLIC {

// How what is known of a row passes from layer to layer.
enum class Propagation {
  kMoments,  // as a Gaussian with the true means and variances: probabilistic backpropagation
  kSamples,  // as paths drawn afresh for each row
  kPoints,   // as paths through points common to all rows, learnt with the model
};
constexpr auto NamesOf(Propagation) {
  return std::to_array<EnumName<Propagation>>({{Propagation::kMoments, "moments"},
                                               {Propagation::kSamples, "samples"},
                                               {Propagation::kPoints, "points"}});
}

enum class Start {
  kPrincipal,  // hidden layers begin as the principal components of the inputs (the default)
  // Layer 0: k-means and the median distance. Above: pseudo-inputs in [-1, 1], long lengthscales.
  // In the site form: small random factors.
  kPaper,
};
constexpr auto NamesOf(Start) {
  return std::to_array<EnumName<Start>>(
      {{Start::kPrincipal, "principal"}, {Start::kPaper, "paper"}});
}

struct Architecture {
  std::vector<Index> hidden = {5};  // widths of the hidden layers; empty: one GP layer
  // Pseudo-points per layer from the first one up; the last entry holds for all layers above.
  std::vector<Index> inducing = {100, 50};
  std::string kernel = "se_ard";
  std::string likelihood = "gaussian";
  bool linear_mean = true;  // hidden layers have a fixed linear mean (principal components)
  bool skip_links = false;  // raw inputs beside the hidden units in layers above the first
  bool shared = false;      // the functions of a layer share kernel parameters and pseudo-inputs
  bool full_covariance = false;  // hidden units of a row are one joint Gaussian
  bool site_form = false;        // posterior in the site form instead of the whitened one
  Propagation propagation = Propagation::kMoments;
  Index paths = 16;  // per row, where hidden units are sampled or pass through points
};

struct InitializeOptions {
  Start start = Start::kPrincipal;
  double lengthscale = 1;        // of layer 0, times sqrt(inputs)
  double upper_lengthscale = 1;  // of the layers above, times sqrt(inputs)
  double hidden_noise = 0.01;
  double output_noise = 0.1;
  double hidden_posterior_var = 1e-2;
  Index sample_rows = 2000;  // rows that k-means and the fits look at
};

}  // namespace fathom

#endif  // FATHOM_MODEL_ARCHITECTURE_H_
