#include "fathom/train/start.h"

#include <algorithm>
#include <utility>

#include "fathom/model/initialize.h"
#include "fathom/train/observations.h"
#include "fathom/train/screen_columns.h"
#include "fathom/train/training.h"

namespace fathom {

namespace {

bool VariesAtAll(const Scaler& scaler) {
  for (Index c = 0; c < scaler.mean.size(); ++c) {
    if (scaler.Varies(c)) return true;
  }
  return false;
}

// What x, standardised, is to be multiplied by, or nothing.
Matrix Directions(const Moments& x, const Matrix& y, Whitening whitening) {
  if (whitening == Whitening::kNever) return {};
  // Cells of unknown value blur all directions at once.
  if (whitening == Whitening::kAuto && !(x.var.array() == 0).all()) return {};
  // With so many columns the directions would take longer than the training.
  constexpr Index kMostColumns = 2000;
  if (whitening == Whitening::kAuto && x.cols() > kMostColumns) return {};
  PrincipalDirections principal = FindPrincipalDirections(x.mean);
  if (principal.directions.cols() == 0) return {};      // no column varies
  const Matrix known = y.array().isNaN().select(0, y);  // a gap explains nothing
  if (whitening == Whitening::kAuto && !HidesInSmallDirections(principal, x.mean, known)) return {};
  return std::move(principal.directions);
}

}  // namespace

Moments FitInputs(const Dataset& dataset, const Matrix& y, const Recipe& recipe, Scaler* scaler) {
  const Moments& inputs = dataset.inputs();
  *scaler = FitScaler(inputs.mean, dataset.weights());
  const Moments x = StandardizeInputs(*scaler, inputs);
  scaler->directions = Directions(x, y, recipe.whitening);
  if (recipe.warping == Warping::kAlways && scaler->directions.size() == 0)
    scaler->warps = FitWarps(x.mean, !inputs.mean.array().isNaN());
  return StandardizeInputs(*scaler, inputs);
}

NetworkInTraining StartNetwork(const Dataset& dataset, const Recipe& recipe, bool screen,
                               ScaledRows* rows) {
  NetworkInTraining start;
  start.recipe = recipe;
  ResolveSteps(dataset.rows(), &start.recipe);
  std::string& likelihood_name = start.recipe.architecture.likelihood;
  likelihood_name = ChooseLikelihood(likelihood_name, dataset);
  const auto likelihood = MakeLikelihood(likelihood_name);
  start.target_scaler = FitTargetScaler(*likelihood, dataset);
  if (!VariesAtAll(start.target_scaler)) {
    // Nothing holds the noise up but its floor. N equal rows make a difference of the target's own
    // size unlikely, not impossible.
    double& floor = start.recipe.noise_floor;
    floor = std::max(floor, 1 / static_cast<double>(dataset.rows() + 1));
  }
  rows->y = Observations(*likelihood, start.target_scaler, dataset);
  // What a linear fit explains of a target is known of numbers only.
  const bool judge = recipe.whitening == Whitening::kAuto && likelihood->TakesScaledTargets();
  rows->x =
      FitInputs(dataset, judge ? rows->y : Matrix(rows->y.rows(), 0), recipe, &start.input_scaler);
  Vector lengthscales;
  if (screen && likelihood->TakesScaledTargets() && recipe.start.start == Start::kPrincipal) {
    const ThreadPool pool(recipe.threads);
    lengthscales = ScreenColumns(*rows, dataset.weights(), recipe.seed, pool);
  }
  start.network = Initialize(start.recipe.architecture, start.recipe.start, recipe.seed,
                             rows->x.mean, NumOutputs(*likelihood, dataset), lengthscales);
  likelihood->StartFrom(rows->y, &start.network.likelihood_parameters);
  return start;
}

ScaledRows ScaleRows(const NetworkInTraining& network, const Dataset& dataset) {
  return {StandardizeInputs(network.input_scaler, dataset.inputs()),
          Observations(*network.network.likelihood, network.target_scaler, dataset)};
}

}  // namespace fathom
