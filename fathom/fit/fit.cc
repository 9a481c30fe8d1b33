#include "fathom/fit/fit.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <sstream>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "fathom/base/stopwatch.h"
#include "fathom/data/fingerprint.h"
#include "fathom/data/text.h"
#include "fathom/fit/alternate.h"
#include "fathom/fit/describe.h"
#include "fathom/fit/observations.h"
#include "fathom/inference/aep_energy.h"

namespace fathom {

namespace {

void CheckDataset(const Dataset& dataset) {
  if (dataset.rows() == 0) ThrowError(dataset.source, ": no rows to train on");
  if (dataset.inputs.cols() == 0) ThrowError(dataset.source, ": no input columns");
  if (dataset.targets.cols() == 0) ThrowError(dataset.source, ": no target column");
  const bool weighted = dataset.weights.size() > 0;
  if (weighted && !(dataset.weights.size() == dataset.rows() && dataset.weights.allFinite() &&
                    dataset.weights.minCoeff() > 0))
    ThrowError(dataset.source, ": the weights must be one positive number for each row");
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

// Throws Error, with the first difference that a user can see, unless `model` was trained on
// `dataset`.
void RequireSameData(const Dataset& dataset, const Model& model) {
  if (Fingerprint(dataset) == model.data.fingerprint) return;
  std::ostringstream difference;
  if (dataset.rows() != model.summary.rows) {
    difference << "it has " << dataset.rows() << " rows instead of " << model.summary.rows;
  } else if (dataset.input_names != model.input_names) {
    difference << "its inputs are " << QuotedList(dataset.input_names) << " instead of "
               << QuotedList(model.input_names);
  } else if (dataset.target_names != model.target_names) {
    difference << "its targets are " << QuotedList(dataset.target_names) << " instead of "
               << QuotedList(model.target_names);
  } else {
    difference << "its cells differ";
  }
  ThrowError(dataset.source, ": is not the table that the training began with: ", difference.str(),
             "; name that table, or fit a new model");
}

// A time budget without a number of steps is there to be used: on the mountain car, 60 s instead of
// the default number took the log likelihood of new rows from -2.43 to -2.37. The plateau rule ends
// it when nothing is gained any more.
void ResolveSteps(Index rows, MinimizeOptions* optimizer) {
  if (optimizer->steps > 0) return;
  optimizer->steps = optimizer->time_budget > 0 ? kMostSteps : DefaultSteps(rows);
}

// A training from some state of the optimiser to an end.
class Training {
 public:
  // Keeps references to x, y and control.
  Training(const Moments& x, const Matrix& y, const Vector& weights, Checkpoint run,
           const FitControl& control)
      : run_(std::move(run)),
        control_(control),
        pool_(run_.model.recipe.threads),
        energy_(run_.model.network, x, y,
                {.alpha = run_.model.recipe.alpha,
                 .noise_floor = run_.model.recipe.noise_floor,
                 .weights = weights,
                 .mixture = run_.model.recipe.mixture,
                 .seed = run_.model.recipe.seed,
                 .precision = run_.model.recipe.precision},
                pool_),
        steps_per_epoch_(StepsPerEpoch(x.rows(), run_.model.recipe.optimizer.batch_size)) {}

  Model Run() {
    const Recipe& recipe = run_.model.recipe;
    const Summary end = Minimize(
        energy_, recipe.optimizer,
        [this](const Progress& progress, const MinimizeState&) { return AfterStep(progress); },
        &run_.state);
    if (end.reason == StopReason::kNumericalFailure && end.steps == run_.state.first_step)
      throw NumericalError(end.message);
    UpdateModel(end);
    const std::vector<Index> rows = ClosingRows(energy_.num_rows(), recipe.seed);
    const EnergyParts closing = energy_.Energy(run_.model.network, rows, nullptr);
    run_.model.summary.energy_per_row = closing.F / energy_.N();
    run_.model.summary.largest_jitter = closing.largest_jitter;
    return std::move(run_.model);
  }

 private:
  bool AfterStep(const Progress& progress) {
    if (control_.on_epoch && progress.step % steps_per_epoch_ == 0) ReportEpoch(progress);
    const bool go_on = !control_.callback || control_.callback(progress, run_.state);
    const bool due = since_checkpoint_.Seconds() >= control_.checkpoint_interval;
    if (!control_.checkpoint.empty() && (due || !go_on)) WriteCheckpoint();
    return go_on;
  }

  void ReportEpoch(const Progress& progress) {
    Unpack(run_.state.parameters, energy_.packing(), &run_.model.network);
    control_.on_epoch({progress.step / steps_per_epoch_, progress.step, -progress.value,
                       progress.rate, NoiseStd(run_.model), progress.seconds});
  }

  void WriteCheckpoint() {
    const MinimizeState& state = run_.state;
    UpdateModel({StopReason::kInterrupted, "a checkpoint", state.step, state.smoothed,
                 state.recoveries, state.seconds});
    try {
      SaveCheckpoint(run_, control_.checkpoint);
    } catch (const Error& error) {
      if (!control_.on_checkpoint_failure) throw;
      control_.on_checkpoint_failure(error.what());
    }
    since_checkpoint_ = {};
  }

  void UpdateModel(const Summary& now) {
    Unpack(run_.state.parameters, energy_.packing(), &run_.model.network);
    run_.model.summary = {energy_.num_rows(), -now.value,     now.reason,  now.message,
                          now.steps,          now.recoveries, now.seconds, 0};
  }

  Checkpoint run_;
  const FitControl& control_;
  ThreadPool pool_;
  AepEnergy energy_;
  Index steps_per_epoch_;
  Stopwatch since_checkpoint_;
};

}  // namespace

Model Fit(const Dataset& dataset, const Recipe& recipe, const FitControl& control) {
  const Stopwatch watch;
  CheckRecipe(recipe);
  CheckDataset(dataset);
  Checkpoint run;
  Model& model = run.model;
  model.recipe = recipe;
  model.schema = dataset.schema.inputs.empty()
                     ? NumericSchema(dataset.input_names, dataset.target_names)
                     : dataset.schema;
  model.recipe.start.seed = recipe.seed;
  model.recipe.optimizer.seed = recipe.seed;
  ResolveSteps(dataset.rows(), &model.recipe.optimizer);
  model.data = {Fingerprint(dataset), control.origin, control.settings};
  model.input_names = dataset.input_names;
  model.target_names = dataset.target_names;
  model.input_scaler = FitScaler(dataset.inputs.mean, dataset.weights);
  model.recipe.architecture.likelihood = ChooseLikelihood(recipe.architecture.likelihood, dataset);
  const auto likelihood = MakeLikelihood(model.recipe.architecture.likelihood);
  model.target_scaler = FitTargetScaler(*likelihood, dataset);
  const Moments x = StandardizeInputs(model.input_scaler, dataset.inputs);
  const Matrix y = Observations(*likelihood, model.target_scaler, dataset);
  model.network = Initialize(model.recipe.architecture, model.recipe.start, x.mean,
                             NumOutputs(*likelihood, dataset));
  likelihood->StartFrom(y, &model.network.likelihood_parameters);
  if (recipe.inference != Inference::kAep) {
    if (dataset.weights.size() > 0)
      ThrowError(dataset.source,
                 ": EP and SEP count every row once; leave out the weights, or use "
                 "the inference 'aep'");
    Alternated end = Alternate(model.network, x, y, model.recipe,
                               control.seconds_before + watch.Seconds(), control.callback);
    const double rows = static_cast<double>(x.rows());
    model.network = std::move(end.network);
    model.summary = {x.rows(),      end.energy / rows,  end.run.reason,  end.run.message,
                     end.run.steps, end.run.recoveries, end.run.seconds, model.network.jitter};
    return std::move(model);
  }
  run.state = MinimizeState(Pack(model.network, {recipe.noise_floor}));
  run.state.seconds = control.seconds_before + watch.Seconds();
  return Training(x, y, dataset.weights, std::move(run), control).Run();
}

Model Resume(const Dataset& dataset, Checkpoint checkpoint, const FitControl& control) {
  const Stopwatch watch;
  const Model& model = checkpoint.model;
  if (model.recipe.inference != Inference::kAep)
    ThrowError("a training by EP or SEP cannot be resumed, as its factors are not kept; fit anew");
  CheckRecipe(model.recipe);
  ResolveSteps(dataset.rows(), &checkpoint.model.recipe.optimizer);
  CheckDataset(dataset);
  RequireSameData(dataset, model);
  const Moments x = StandardizeInputs(model.input_scaler, dataset.inputs);
  const Matrix y = Observations(*model.network.likelihood, model.target_scaler, dataset);
  checkpoint.state.seconds += control.seconds_before + watch.Seconds();
  return Training(x, y, dataset.weights, std::move(checkpoint), control).Run();
}

Checkpoint StartAgain(Model model, Index steps) {
  Recipe& recipe = model.recipe;
  Require(model.summary.steps >= 0, "steps of the model", "at least 0", model.summary.steps);
  recipe.optimizer.time_budget = 0;
  recipe.optimizer.steps = steps;
  MinimizeState state(Pack(model.network, {recipe.noise_floor}), model.summary.steps);
  return {std::move(model), std::move(state)};
}

ModelPredictor::ModelPredictor(Model model, int threads, Precision precision)
    : model_(std::move(model)), pool_(threads), predictor_(model_.network, pool_, precision) {}

Prediction ModelPredictor::Predict(const Moments& inputs, const PredictOptions& options) const {
  Prediction prediction =
      predictor_.Predict(StandardizeInputs(model_.input_scaler, inputs), options);
  if (!model_.network.likelihood->TakesScaledTargets()) return prediction;
  if (options.latent) {
    // The functions of the targets; those of their noise have no units.
    const Index targets = model_.target_scaler.mean.size();
    for (Moments& f : prediction.components) {
      f.mean.conservativeResize(Eigen::NoChange, targets);
      f.var.conservativeResize(Eigen::NoChange, targets);
    }
  }
  return Unscale(model_.target_scaler, std::move(prediction));
}

Matrix ModelPredictor::ClassProbabilities(const Moments& inputs,
                                          const PredictOptions& options) const {
  return predictor_.ClassProbabilities(StandardizeInputs(model_.input_scaler, inputs), options);
}

}  // namespace fathom
