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
#include "fathom/fit/one_network.h"
#include "fathom/fit/stack.h"
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
  // The networks of a stack see parts of the table.
  if (!model.recipe.stack && dataset.rows() != model.summary.rows) {
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

// Standardised inputs; sets the scaler's directions if they are to be whitened.
Moments WhitenedInputs(const Moments& inputs, const Matrix& y, Whitening whitening,
                       Scaler* scaler) {
  Moments x = StandardizeInputs(*scaler, inputs);
  if (whitening == Whitening::kNever) return x;
  // Cells of unknown value blur all directions at once.
  if (whitening == Whitening::kAuto && !(x.var.array() == 0).all()) return x;
  // With so many columns the directions would take longer than the training.
  constexpr Index kMostColumns = 2000;
  if (whitening == Whitening::kAuto && x.cols() > kMostColumns) return x;
  PrincipalDirections principal = FindPrincipalDirections(x.mean);
  if (principal.directions.cols() == 0) return x;  // no column varies
  if (whitening == Whitening::kAuto && !HidesInSmallDirections(principal, x.mean, y)) return x;
  scaler->directions = std::move(principal.directions);
  return StandardizeInputs(*scaler, inputs);
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
    control_.on_epoch({control_.stage, progress.step / steps_per_epoch_,
                       control_.steps_before + progress.step, -progress.value, progress.rate,
                       NoiseStd(run_.model), progress.seconds});
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

void ResolveSteps(Index rows, Recipe* recipe) {
  Index& steps = recipe->optimizer.steps;
  if (steps > 0) return;
  // A time budget without a number of steps is there to be used: on the mountain car, 60 s instead
  // of the default number took the log likelihood of new rows from -2.43 to -2.37. The plateau rule
  // ends it when nothing is gained any more.
  const double usual = recipe->effort * static_cast<double>(DefaultSteps(rows));
  steps = recipe->optimizer.time_budget > 0 ? kMostSteps
                                            : std::max(Index{1}, static_cast<Index>(usual));
}

Model Fit(const Dataset& dataset, const Recipe& recipe, const FitControl& control) {
  CheckRecipe(recipe);
  CheckDataset(dataset);
  return recipe.stack ? FitStack(dataset, recipe, control)
                      : FitOneNetwork(dataset, recipe, control);
}

Model FitOneNetwork(const Dataset& dataset, const Recipe& recipe, const FitControl& control,
                    std::vector<Model> companions) {
  const Stopwatch watch;
  Checkpoint run;
  Model& model = run.model;
  model.companions = std::move(companions);
  model.recipe = recipe;
  model.schema = dataset.schema.inputs.empty()
                     ? NumericSchema(dataset.input_names, dataset.target_names)
                     : dataset.schema;
  model.recipe.start.seed = recipe.seed;
  model.recipe.optimizer.seed = recipe.seed;
  ResolveSteps(dataset.rows(), &model.recipe);
  model.data = {control.fingerprint.empty() ? Fingerprint(dataset) : control.fingerprint,
                control.origin, control.settings};
  model.input_names = dataset.input_names;
  model.target_names = dataset.target_names;
  model.input_scaler = FitScaler(dataset.inputs.mean, dataset.weights);
  model.recipe.architecture.likelihood = ChooseLikelihood(recipe.architecture.likelihood, dataset);
  const auto likelihood = MakeLikelihood(model.recipe.architecture.likelihood);
  model.target_scaler = FitTargetScaler(*likelihood, dataset);
  const Matrix y = Observations(*likelihood, model.target_scaler, dataset);
  // What a linear fit explains of a target is known of numbers only.
  const bool judge = recipe.whitening == Whitening::kAuto && likelihood->TakesScaledTargets();
  const Moments x = WhitenedInputs(dataset.inputs, judge ? y : Matrix(y.rows(), 0),
                                   recipe.whitening, &model.input_scaler);
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
  const Model& model = checkpoint.model;
  if (model.recipe.inference != Inference::kAep)
    ThrowError("a training by EP or SEP cannot be resumed, as its factors are not kept; fit anew");
  CheckRecipe(model.recipe);
  ResolveSteps(dataset.rows(), &checkpoint.model.recipe);
  CheckDataset(dataset);
  RequireSameData(dataset, model);
  return model.recipe.stack ? ResumeStack(dataset, std::move(checkpoint), control)
                            : ResumeOneNetwork(dataset, std::move(checkpoint), control);
}

Model ResumeOneNetwork(const Dataset& dataset, Checkpoint checkpoint, const FitControl& control) {
  const Stopwatch watch;
  const Model& model = checkpoint.model;
  const Moments x = StandardizeInputs(model.input_scaler, dataset.inputs);
  const Matrix y = Observations(*model.network.likelihood, model.target_scaler, dataset);
  checkpoint.state.seconds += control.seconds_before + watch.Seconds();
  return Training(x, y, dataset.weights, std::move(checkpoint), control).Run();
}

Checkpoint StartAgain(Model model, Index steps) {
  Recipe& recipe = model.recipe;
  if (recipe.stack) ThrowError("a stack of networks cannot be trained further; fit it anew");
  Require(model.summary.steps >= 0, "steps of the model", "at least 0", model.summary.steps);
  recipe.optimizer.time_budget = 0;
  recipe.optimizer.steps = steps;
  MinimizeState state(Pack(model.network, {recipe.noise_floor}), model.summary.steps);
  return {std::move(model), std::move(state)};
}

}  // namespace fathom
