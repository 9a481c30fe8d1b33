#include <algorithm>
#include <cstdint>
#include <numeric>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "fathom/fit/model.h"
#include "fathom/inference/aep_energy.h"

namespace fathom {

namespace {

void CheckDataset(const Dataset& dataset) {
  if (dataset.rows() == 0) ThrowError(dataset.source, ": no rows to train on");
  if (dataset.inputs.cols() == 0) ThrowError(dataset.source, ": no input columns");
  if (dataset.targets.cols() == 0) ThrowError(dataset.source, ": no target column");
  if (!dataset.targets.allFinite()) ThrowError(dataset.source, ": a target is not a finite number");
}

// Rows from which the energy at the end is computed. A pass over a table of millions would take
// longer than the training, and a time budget or an interrupt must end soon.
std::vector<Index> ClosingRows(Index rows, std::uint64_t seed) {
  constexpr Index kMost = 10000;
  std::vector<Index> chosen(std::min(rows, kMost));
  if (rows <= kMost) {
    std::iota(chosen.begin(), chosen.end(), Index{0});
  } else {
    RandomStream stream(seed, UINT64_MAX);  // a stream of its own: the epochs' count from 0
    for (Index& row : chosen) row = stream.Below(rows);
  }
  return chosen;
}

}  // namespace

Model Fit(const Dataset& dataset, const Recipe& recipe, const ProgressCallback& callback) {
  CheckRecipe(recipe);
  CheckDataset(dataset);
  Model model;
  model.recipe = recipe;
  model.input_names = dataset.input_names;
  model.target_names = dataset.target_names;
  model.input_scaler = FitScaler(dataset.inputs.mean);
  model.target_scaler = FitScaler(dataset.targets);
  const Moments x = StandardizeInputs(model.input_scaler, dataset.inputs);
  const Matrix y = StandardizeTargets(model.target_scaler, dataset.targets);

  const ThreadPool pool(recipe.threads);
  InitializeOptions start = recipe.start;
  start.seed = recipe.seed;
  model.network = Initialize(recipe.architecture, start, x.mean, y.cols());
  const AepEnergy energy(model.network, x, y,
                         {.alpha = recipe.alpha, .noise_floor = recipe.noise_floor}, pool);
  MinimizeOptions optimizer = recipe.optimizer;
  optimizer.seed = recipe.seed;
  if (optimizer.steps == 0) optimizer.steps = DefaultSteps(x.rows());
  model.recipe.optimizer = optimizer;
  model.recipe.start = start;
  MinimizeState state(Pack(model.network, energy.packing()));
  const Summary run = Minimize(energy, optimizer, callback, &state);
  if (run.reason == StopReason::kNumericalFailure && run.steps == 0)
    throw NumericalError(run.message);

  Unpack(state.parameters, energy.packing(), &model.network);
  const EnergyParts end = energy.Energy(model.network, ClosingRows(x.rows(), recipe.seed), nullptr);
  const auto rows = static_cast<double>(x.rows());
  model.summary = {x.rows(),  end.F / rows,   run.reason,  run.message,
                   run.steps, run.recoveries, run.seconds, end.largest_jitter};
  return model;
}

ModelPredictor::ModelPredictor(Model model, int threads)
    : model_(std::move(model)), pool_(threads), predictor_(model_.network, pool_) {}

Prediction ModelPredictor::Predict(const Moments& inputs, const PredictOptions& options) const {
  return Unscale(model_.target_scaler,
                 predictor_.Predict(StandardizeInputs(model_.input_scaler, inputs), options));
}

}  // namespace fathom
