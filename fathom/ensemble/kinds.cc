#include "fathom/ensemble/kinds.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include "fathom/fitted/describe.h"
#include "fathom/train/observations.h"
#include "fathom/train/training.h"

namespace fathom {

namespace {

// Returns the variance of rounding to the values of a target that takes few, with the target scaled
// to variance 1; the largest over targets, 0 if none takes few.
double RoundingVariance(const Matrix& targets) {
  constexpr std::size_t kFew = 100;
  double largest = 0;
  for (Index t = 0; t < targets.cols(); ++t) {
    std::set<double> levels;
    for (Index n = 0; n < targets.rows() && levels.size() <= kFew; ++n)
      levels.insert(targets(n, t));
    // A short table has few values of anything.
    const bool few =
        levels.size() <= kFew && 5 * static_cast<Index>(levels.size()) < targets.rows();
    if (!few || levels.size() < 2) continue;
    double gap = std::numeric_limits<double>::infinity();
    for (auto level = std::next(levels.begin()); level != levels.end(); ++level)
      gap = std::min(gap, *level - *std::prev(level));
    const double variance = (targets.col(t).array() - targets.col(t).mean()).square().mean();
    largest = std::max(largest, gap * gap / (12 * variance));
  }
  return largest;
}

}  // namespace

bool MakesStack(const Dataset& dataset, const Recipe& recipe) {
  if (recipe.stack != Stacking::kAuto) return recipe.stack == Stacking::kAlways;
  constexpr Index kEnoughRows = 500;
  const Architecture& architecture = recipe.architecture;
  return dataset.rows() >= kEnoughRows && !architecture.hidden.empty() &&
         architecture.propagation == Propagation::kMoments && !architecture.full_covariance &&
         recipe.inference == Inference::kAep &&
         MakeLikelihood(ChooseLikelihood(architecture.likelihood, dataset))->AddsGaussianNoise();
}

std::vector<Recipe> StackRecipes(const Recipe& recipe, const Dataset& dataset) {
  std::vector<Recipe> kinds = {recipe};
  const auto add = [&](auto&& change) {
    kinds.push_back(recipe);
    change(&kinds.back());
  };
  const Architecture& architecture = recipe.architecture;
  if (!architecture.hidden.empty()) {
    add([](Recipe* deeper) {
      deeper->architecture.hidden.push_back(deeper->architecture.hidden.back());
    });
    add([](Recipe* shallow) {
      shallow->architecture.hidden.clear();
      shallow->architecture.inducing.resize(1);
    });
    // A mixture of paths could sit on the values of a target that takes few, so no component is
    // narrower than the rounding to them.
    const bool classes = !dataset.schema().classes.empty();
    const double floor =
        std::max(recipe.noise_floor, classes ? 0 : RoundingVariance(dataset.targets()));
    if (recipe.stack == Stacking::kAlways) {
      add([&](Recipe* sampled) {
        sampled->architecture.propagation = Propagation::kSamples;
        sampled->architecture.skip_links = true;
        sampled->noise_floor = floor;
      });
    }
    if (!classes) {
      add([&](Recipe* points) {
        points->architecture.propagation = Propagation::kPoints;
        points->architecture.skip_links = true;
        points->noise_floor = std::max(floor, 1e-3);
      });
    }
  }
  return kinds;
}

std::vector<Recipe> PromisingKinds(std::vector<Recipe> kinds, const DeepGp& network) {
  if (!network.likelihood->TakesScaledTargets()) return kinds;
  const double noise = ObservationVariance(network).maxCoeff();
  std::erase_if(kinds, [&](const Recipe& kind) {
    // Paths whose noise floor is above the noise found can add nothing. A deeper network could, but
    // with little noise it trains so long that it would take most of the time.
    const bool paths = kind.architecture.propagation != Propagation::kMoments;
    const bool deeper = kind.architecture.hidden.size() >= network.layers.size();
    return (paths && kind.noise_floor > noise) ||
           (deeper && kind.stack == Stacking::kAuto && LeavesLittleNoise(network));
  });
  return kinds;
}

}  // namespace fathom
