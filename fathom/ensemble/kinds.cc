#include "fathom/ensemble/kinds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fathom/train/observations.h"
#include "fathom/train/training.h"

namespace fathom {

namespace {

// Whether at least so many rows differ from each other. NaN, a missing cell, is equal to itself.
bool HasDifferentRows(const Dataset& dataset, Index many) {
  const auto same = [](const auto& one, const auto& other) {
    return ((one.array() == other.array()) || (one.array().isNaN() && other.array().isNaN())).all();
  };
  const Moments& x = dataset.inputs();
  const Matrix& y = dataset.targets();
  std::vector<Index> found;
  for (Index n = 0; n < dataset.rows() && std::ssize(found) < many; ++n) {
    const bool is_copy = std::any_of(found.begin(), found.end(), [&](Index m) {
      return same(x.mean.row(n), x.mean.row(m)) && same(x.var.row(n), x.var.row(m)) &&
             same(y.row(n), y.row(m));
    });
    if (!is_copy) found.push_back(n);
  }
  return std::ssize(found) == many;
}

// Whether there is something to learn, and enough different rows to leave some out. If not, one
// network learns the table, whatever `stack` and `local` say.
bool CanBeFolded(const Dataset& dataset) {
  constexpr Index kLeastRows = 10;
  if (!HasDifferentRows(dataset, kLeastRows)) return false;
  for (Index t = 0; t < dataset.targets().cols(); ++t) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    Index known = 0;
    for (const double y : dataset.targets().col(t)) {
      if (std::isnan(y)) continue;
      least = std::min(least, y);
      most = std::max(most, y);
      ++known;
    }
    if (known < kLeastRows || least == most) return false;
  }
  return true;
}

// A network of an ensemble need not know everything: neighbours and other networks make up for it.
// So it has fewer pseudo-points than one that stands alone, learns faster, and takes no more steps
// if the noise is small. Many rows teach a second hidden layer; it then costs no more to have fewer
// pseudo-points in each. Few steps are enough for numbers, where neighbours help
// (docs/measurements/decisions.md).
void MakeLight(Index rows, bool classes, Recipe* recipe) {
  constexpr double kPointsPerRoot = 1.6;
  constexpr double kLeastPoints = 32, kMostPoints = 100, kMostOfDeeper = 64;
  const Index most_steps = classes ? 2500 : 600;
  std::vector<Index>& hidden = recipe->architecture.hidden;
  std::vector<Index>& inducing = recipe->architecture.inducing;
  const bool deeper = hidden.size() == 1 && rows >= kManyRows;
  if (deeper) {
    hidden.push_back(hidden.back());
    inducing.push_back(inducing.back());
  }
  const double most = std::clamp(kPointsPerRoot * std::sqrt(static_cast<double>(rows)),
                                 kLeastPoints, deeper ? kMostOfDeeper : kMostPoints);
  for (std::size_t layer = 0; layer < inducing.size(); ++layer)
    inducing[layer] = std::min(inducing[layer], static_cast<Index>(layer == 0 ? most : most / 2));
  if (recipe->optimizer.steps == 0) {
    const double usual =
        recipe->effort * static_cast<double>(std::min(DefaultSteps(rows), most_steps));
    recipe->optimizer.steps = std::max<Index>(1, static_cast<Index>(usual));
  }
  recipe->low_noise_steps = recipe->optimizer.steps;
  if (!classes || !deeper)
    recipe->optimizer.learning_rate = std::min(10.0, 2 * recipe->optimizer.learning_rate);
}

}  // namespace

bool MakesEnsemble(const Dataset& dataset, const Recipe& recipe) {
  if (recipe.stack == Stacking::kNever || !CanBeFolded(dataset)) return false;
  const Architecture& architecture = recipe.architecture;
  const auto likelihood = MakeLikelihood(ChooseLikelihood(architecture.likelihood, dataset));
  const bool classes = !dataset.schema().classes.empty();
  if (!classes && !likelihood->AddsGaussianNoise()) return false;
  if (recipe.stack == Stacking::kAlways) return true;
  return !architecture.hidden.empty() && architecture.propagation == Propagation::kMoments &&
         !architecture.full_covariance && recipe.inference == Inference::kAep;
}

bool HasLightNetworks(const Recipe& recipe, const Dataset& dataset) {
  if (recipe.stack != Stacking::kAlways) return true;
  const Architecture usual;
  const bool own_size = recipe.architecture.hidden != usual.hidden ||
                        recipe.architecture.inducing != usual.inducing ||
                        recipe.optimizer.steps > 0;
  return dataset.schema().classes.empty() && dataset.rows() >= kManyRows && !own_size;
}

std::vector<Recipe> EnsembleKinds(const Recipe& recipe, const Dataset& dataset) {
  const bool classes = !dataset.schema().classes.empty();
  const bool light = HasLightNetworks(recipe, dataset);
  std::vector<Recipe> kinds;
  if (recipe.local == Local::kOnly && !classes) return kinds;
  const auto add = [&](auto&& change) {
    Recipe kind = recipe;
    change(&kind);
    if (light) MakeLight(dataset.rows(), classes, &kind);
    ResolveSteps(dataset.rows(), &kind);
    kind.stack = Stacking::kNever;
    kinds.push_back(std::move(kind));
  };
  const auto without_layers = [](Recipe* kind) {
    kind->architecture.hidden.clear();
    kind->architecture.inducing.resize(1);
  };
  if (classes) {
    add([&](Recipe* linear) {
      without_layers(linear);
      // The squared exponential is there for the intercept.
      linear->architecture.kernel = "se_ard+linear_ard";
    });
  }
  if (!recipe.architecture.hidden.empty()) {
    add([&](Recipe* shallow) {
      without_layers(shallow);
      constexpr Index kMostShallowSteps = 300;
      if (!classes && shallow->optimizer.steps == 0) shallow->optimizer.steps = kMostShallowSteps;
    });
  }
  add([](Recipe* /*as_asked*/) {});
  if (!light && !recipe.architecture.hidden.empty()) {
    add([](Recipe* deeper) {
      deeper->architecture.hidden.push_back(deeper->architecture.hidden.back());
    });
  }
  return kinds;
}

}  // namespace fathom
