#include "fathom/recipe/quality.h"

namespace fathom {

namespace {

using IsGiven = std::function<bool(const std::string&)>;

// What the paper says: EP with alpha = 1; k-means and the median distance for the first layer,
// long lengthscales and pseudo-inputs in [-1, 1] above; natural parameters of the average factor
// that start as small random values; Adam with its default rate, which stays; no prior. It names
// neither the size of a batch nor the number of steps: those are of the authors' own script.
void ApplyPaper(const IsGiven& is_given, Recipe* recipe) {
  const auto set = [&](const char* field, auto* value, const auto& papers) {
    if (!is_given(field)) *value = papers;
  };
  Architecture& architecture = recipe->architecture;
  set("architecture.hidden", &architecture.hidden, std::vector<Index>{3});
  set("architecture.inducing", &architecture.inducing, std::vector<Index>{100});
  set("architecture.linear_mean", &architecture.linear_mean, false);
  set("architecture.site_form", &architecture.site_form, true);
  set("start.start", &recipe->start.start, Start::kPaper);
  set("whitening", &recipe->whitening, Whitening::kNever);
  set("alpha", &recipe->alpha, 1.0);
  set("lengthscale_prior", &recipe->lengthscale_prior, 0.0);
  MinimizeOptions& optimizer = recipe->optimizer;
  set("optimizer.steps", &optimizer.steps, Index{6000});
  set("optimizer.batch_size", &optimizer.batch_size, Index{50});
  set("optimizer.learning_rate", &optimizer.learning_rate, 0.001);
  set("optimizer.warm_up", &optimizer.warm_up, Index{0});
  set("optimizer.decay", &optimizer.decay, false);
  set("optimizer.patience", &optimizer.patience, Index{0});
  set("stack", &recipe->stack, Stacking::kNever);
}

}  // namespace

void ApplyQuality(Quality quality, const std::function<bool(const std::string&)>& is_given,
                  Recipe* recipe) {
  if (quality == Quality::kPaper) return ApplyPaper(is_given, recipe);
  const bool hidden = is_given("architecture.hidden");
  const bool inducing = is_given("architecture.inducing");
  const bool fast = quality == Quality::kFast;
  if (fast && !hidden) recipe->architecture.hidden = {3};
  if (fast && !inducing) recipe->architecture.inducing = {50, 30};
  if (is_given("stack")) return;
  if (quality == Quality::kBest) {
    recipe->stack = Stacking::kAlways;
  } else if (fast || hidden || inducing || is_given("optimizer.steps")) {
    recipe->stack = Stacking::kNever;
  }
}

}  // namespace fathom
