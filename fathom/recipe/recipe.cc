#include "fathom/recipe/recipe.h"

#include <algorithm>
#include <cmath>

#include "fathom/base/error.h"
#include "fathom/kernel/full_layer.h"

namespace fathom {

Index DefaultSteps(Index rows) {
  const double steps = 500 * std::sqrt(static_cast<double>(rows) / 500);
  return static_cast<Index>(std::clamp(steps, 500.0, 5000.0));
}

namespace {

void RequirePositive(double value, const char* name) {
  Require(value > 0 && std::isfinite(value), name, "positive and finite", value);
}

}  // namespace

void CheckRecipe(const Recipe& recipe) {
  const Architecture& architecture = recipe.architecture;
  Require(!architecture.inducing.empty(), "inducing", "a list of at least one number", "empty");
  for (const Index width : architecture.hidden) {
    Require(width >= 1 && width <= 1000, "hidden",
            "a list of widths from 1 to 1000 (or 0 alone: no hidden layer)", width);
  }
  for (const Index M : architecture.inducing)
    Require(M >= 1 && M <= 10000, "inducing", "from 1 to 10000", M);
  // The default names two, of which a network without hidden layers takes the first.
  Require(architecture.inducing.size() <= std::max<std::size_t>(2, architecture.hidden.size() + 1),
          "inducing", "at most one number per layer", architecture.inducing.size());
  Require(architecture.paths >= 1 && architecture.paths <= 10000, "paths", "from 1 to 10000",
          architecture.paths);
  const std::shared_ptr<const Kernel> kernel = MakeKernel(architecture.kernel);
  if (architecture.likelihood != "auto") MakeLikelihood(architecture.likelihood);
  Require(recipe.alpha >= 0 && recipe.alpha <= 1, "alpha", "between 0 and 1", recipe.alpha);
  Require(recipe.lengthscale_prior >= 0 && std::isfinite(recipe.lengthscale_prior),
          "lengthscale prior", "at least 0", recipe.lengthscale_prior);
  Require(recipe.noise_floor >= 0 && std::isfinite(recipe.noise_floor), "noise floor", "at least 0",
          recipe.noise_floor);
  Require(recipe.optimizer.steps >= 0 && recipe.optimizer.steps <= kMostSteps, "steps",
          "from 0 to 1e15", recipe.optimizer.steps);
  Require(recipe.low_noise_steps >= 0 && recipe.low_noise_steps <= kMostSteps, "low-noise steps",
          "from 0 to 1e15", recipe.low_noise_steps);
  Require(recipe.effort > 0 && recipe.effort <= 1000, "effort", "positive and at most 1000",
          recipe.effort);
  Require(recipe.optimizer.batch_size >= 1, "batch", "at least 1", recipe.optimizer.batch_size);
  Require(recipe.optimizer.learning_rate > 0 && recipe.optimizer.learning_rate <= 10,
          "learning rate", "positive and at most 10", recipe.optimizer.learning_rate);
  Require(recipe.optimizer.warm_up >= 0, "warm-up", "at least 0", recipe.optimizer.warm_up);
  Require(recipe.optimizer.patience >= 0, "patience", "at least 0", recipe.optimizer.patience);
  Require(recipe.optimizer.cool_down >= 0, "cool-down", "at least 0", recipe.optimizer.cool_down);
  const InitializeOptions& start = recipe.start;
  RequirePositive(start.lengthscale, "lengthscale of the start");
  RequirePositive(start.upper_lengthscale, "upper lengthscale of the start");
  RequirePositive(start.hidden_noise, "hidden noise of the start");
  RequirePositive(start.output_noise, "output noise of the start");
  RequirePositive(start.hidden_posterior_var, "hidden posterior variance of the start");
  Require(start.sample_rows >= 1, "sample rows of the start", "at least 1", start.sample_rows);
  Require(recipe.threads >= 0, "threads", "at least 0 (0 = all cores)", recipe.threads);
  Require(!architecture.full_covariance || kernel->NewFullLayer() != nullptr, "kernel",
          "'se_ard', 'linear_ard' or their sum with full covariances", architecture.kernel);
  const bool moments = architecture.propagation == Propagation::kMoments;
  for (const Index width : architecture.hidden) {
    if (!moments || width <= kernel->MostUncertainInputs()) continue;
    ThrowError("the kernel '", kernel->Name(), "' integrates by quadrature over at most ",
               kernel->MostUncertainInputs(), " hidden units, not ", width,
               "; use fewer units, the propagation 'samples', or another kernel");
  }
  Require(!architecture.full_covariance || moments, "propagation",
          "'moments' with full covariances", "paths");
  Require(moments || recipe.inference == Inference::kAep, "propagation",
          "'moments' with inference by EP or SEP", "paths");
  Require(!architecture.full_covariance || recipe.inference == Inference::kAep, "inference",
          "'aep' with full covariances", "'sep' or 'ep'");
  Require(!architecture.site_form || recipe.inference == Inference::kAep, "inference",
          "'aep' with the site form", "'sep' or 'ep'");
  Require(!architecture.site_form || recipe.start.start == Start::kPaper, "start",
          "'paper' with the site form", "'principal'");
}

}  // namespace fathom
