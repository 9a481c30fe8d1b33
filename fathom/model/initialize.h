// Starting points for training, from standardised inputs. Which one is used, and every number in
// it, is part of the recipe.
#ifndef FATHOM_MODEL_INITIALIZE_H_
#define FATHOM_MODEL_INITIALIZE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "fathom/base/enum_names.h"
#include "fathom/model/deep_gp.h"

namespace fathom {

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

// x, standardised, [N, D]; outputs: number of target columns. No layer gets more pseudo-points than
// there are rows. All that is random follows from `seed`.
DeepGp Initialize(const Architecture& architecture, const InitializeOptions& options,
                  std::uint64_t seed, const Matrix& x, Index outputs);

// Lloyd's algorithm from k-means++ seeds; [k, D]. Where x has fewer than k distinct rows, centres
// are moved apart a little.
Matrix KMeans(const Matrix& x, Index k, Index iterations, std::uint64_t seed);

// Columns: directions of unit variance of the scores x * loadings, by falling variance. Beyond the
// rank of x, random combinations of the directions.
Matrix PrincipalLoadings(const Matrix& x, Index count, std::uint64_t seed);

}  // namespace fathom

#endif  // FATHOM_MODEL_INITIALIZE_H_
