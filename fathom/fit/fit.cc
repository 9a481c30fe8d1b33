#include "fathom/fit/fit.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/stopwatch.h"
#include "fathom/base/text.h"
#include "fathom/data/fingerprint.h"
#include "fathom/ensemble/kinds.h"
#include "fathom/ensemble/stack.h"
#include "fathom/fitted/describe.h"
#include "fathom/train/engine.h"
#include "fathom/train/observations.h"
#include "fathom/train/one_network.h"

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

// Throws Error, with the first difference that a user can see, unless `model` was trained on
// `dataset`.
void RequireSameData(const Dataset& dataset, const Model& model) {
  if (Fingerprint(dataset) == model.data.fingerprint) return;
  std::ostringstream difference;
  // The networks of a stack see parts of the table.
  if (model.recipe.stack == Stacking::kNever && dataset.rows() != model.summary.rows) {
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

bool VariesAtAll(const Scaler& scaler) {
  for (Index c = 0; c < scaler.mean.size(); ++c) {
    if (scaler.Varies(c)) return true;
  }
  return false;
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
  // Keeps references to x, y and control. `since_checkpoint` may be null.
  Training(const Moments& x, const Matrix& y, const Vector& weights, Checkpoint run,
           const FitControl& control, Stopwatch* since_checkpoint)
      : run_(std::move(run)),
        control_(control),
        pool_(run_.model.recipe.threads),
        engine_(NewEngine(run_.model.network, x, y, weights, run_.model.recipe, pool_)),
        optimizer_(run_.model.recipe.optimizer),
        since_checkpoint_(since_checkpoint != nullptr ? since_checkpoint : &own_clock_) {
    optimizer_.batch_size = engine_->BatchSize(optimizer_.batch_size);
    if (run_.lengthened) PlanLonger();
    steps_per_epoch_ = StepsPerEpoch(x.rows(), optimizer_.batch_size);
  }

  Model Run() {
    engine_->Start(run_.state.parameters, run_.factors);
    Summary end = Optimize();
    if (end.reason == StopReason::kInterrupted && goes_on_) end = Optimize();
    if (end.reason == StopReason::kNumericalFailure && end.steps == run_.state.first_step)
      throw NumericalError(end.message);
    if (!Close(end)) {
      // The parameters after the last step were never evaluated; these were.
      static_cast<MinimizePoint&>(run_.state) = run_.state.fallback;
      engine_->Recover(run_.state.parameters);
      if (!Close(end))
        throw NumericalError("neither the last parameters nor the ones before can be evaluated");
    }
    return std::move(run_.model);
  }

 private:
  // Whether the parameters are good for a model.
  bool Close(const Summary& end) {
    try {
      if (end.reason != StopReason::kTimeBudget && end.reason != StopReason::kInterrupted)
        engine_->Settle(run_.state.parameters);
      UpdateModel(end);
      const Engine::Closing closing = engine_->Close(run_.state.parameters);
      run_.model.summary.energy_per_row = closing.energy_per_row;
      run_.model.summary.largest_jitter = closing.largest_jitter;
      return std::isfinite(closing.energy_per_row);
    } catch (const NumericalError&) {
      return false;
    }
  }

  Summary Optimize() {
    goes_on_ = false;
    return Minimize(
        engine_->objective(), optimizer_,
        [this](const Progress& progress, const MinimizeState&) { return AfterStep(progress); },
        &run_.state, [this](const MinimizeState& state) { engine_->Recover(state.parameters); });
  }

  bool AfterStep(const Progress& progress) {
    engine_->AfterStep(run_.state.parameters);
    const bool lengthen = LearnsMore();
    if (lengthen) PlanLonger();
    if (control_.on_epoch && progress.step % steps_per_epoch_ == 0) ReportEpoch(progress);
    const bool go_on = !control_.callback || control_.callback(progress, run_.state);
    const bool due = since_checkpoint_->Seconds() >= control_.checkpoint_interval;
    if (!control_.checkpoint.empty() && (due || !go_on)) WriteCheckpoint();
    goes_on_ = lengthen && go_on;
    return go_on && !lengthen;
  }

  Index LowNoiseSteps() const { return run_.model.recipe.low_noise_steps; }

  // The rate goes up again with the longer schedule, and the energy down for a while, which the
  // plateau rule would take for the end. The recipe stays as it is: other networks of a stack
  // follow it.
  void PlanLonger() {
    run_.lengthened = true;
    optimizer_.steps = LowNoiseSteps();
    optimizer_.patience = 0;
    run_.state.cool_down_from = run_.state.fallback.cool_down_from = -1;
  }

  // Whether half of the planned steps are done and leave so little noise that more steps pay. On
  // tables with much noise they only fit the noise (docs/measurements/decisions.md).
  bool LearnsMore() {
    const Index done = run_.state.step - run_.state.first_step;
    if (LowNoiseSteps() <= optimizer_.steps || done != (optimizer_.steps + 1) / 2) return false;
    engine_->Write(run_.state.parameters, &run_.model.network);
    return LeavesLittleNoise(run_.model.network);
  }

  void ReportEpoch(const Progress& progress) {
    engine_->Write(run_.state.parameters, &run_.model.network);
    control_.on_epoch({.epoch = progress.step / steps_per_epoch_,
                       .step = progress.step,
                       .energy_per_row = -progress.value,
                       .learning_rate = progress.rate,
                       .noise_std = NoiseStd(run_.model),
                       .seconds = progress.seconds});
  }

  void WriteCheckpoint() {
    const MinimizeState& state = run_.state;
    UpdateModel({StopReason::kInterrupted, "a checkpoint", state.step, state.smoothed,
                 state.recoveries, state.seconds});
    run_.factors = engine_->Factors();
    try {
      SaveCheckpoint(run_, control_.checkpoint);
    } catch (const Error& error) {
      if (!control_.on_checkpoint_failure) throw;
      control_.on_checkpoint_failure(error.what());
    }
    *since_checkpoint_ = {};
  }

  void UpdateModel(const Summary& now) {
    engine_->Write(run_.state.parameters, &run_.model.network);
    run_.model.summary = {engine_->objective().num_rows(),
                          -now.value,
                          now.reason,
                          now.message,
                          now.steps,
                          now.recoveries,
                          now.seconds,
                          0};
  }

  Checkpoint run_;
  const FitControl& control_;
  ThreadPool pool_;
  std::unique_ptr<Engine> engine_;
  MinimizeOptions optimizer_;
  Index steps_per_epoch_ = 1;
  bool goes_on_ = false;  // the last run of the optimiser ended only for a longer schedule
  Stopwatch own_clock_;
  Stopwatch* since_checkpoint_;
};

}  // namespace

bool LeavesLittleNoise(const DeepGp& network) {
  constexpr double kLittle = 0.01;  // of targets with variance 1
  // The noise of one path is not that of the mixture of them.
  return network.propagation == Propagation::kMoments && network.likelihood->TakesScaledTargets() &&
         ObservationVariance(network).maxCoeff() < kLittle;
}

void ResolveSteps(Index rows, Recipe* recipe) {
  Index& steps = recipe->optimizer.steps;
  Index& low_noise_steps = recipe->low_noise_steps;
  if (steps > 0) {
    if (low_noise_steps == 0) low_noise_steps = steps;
    return;
  }
  // A time budget without a number of steps is there to be used, but not for overfitting: the
  // energy goes on rising long after new rows are predicted worse. On the mountain car 500 steps
  // give a log likelihood of -2.42, 2000 give -2.38, 4400 give -2.48.
  constexpr double kMostWithBudget = 4;
  const double more = recipe->optimizer.time_budget > 0 ? kMostWithBudget : 1;
  const double usual = recipe->effort * static_cast<double>(DefaultSteps(rows));
  steps = std::max(Index{1}, static_cast<Index>(more * usual));
  // More effort than usual has some of these steps already; less asks for fewer of them, too.
  const double longer = 4 * std::min(recipe->effort, 1.0) * static_cast<double>(DefaultSteps(rows));
  if (low_noise_steps == 0) low_noise_steps = std::max(steps, static_cast<Index>(longer));
}

Model Fit(const Dataset& dataset, const Recipe& recipe, const FitControl& control) {
  CheckRecipe(recipe);
  CheckDataset(dataset);
  if (MakesStack(dataset, recipe)) return FitStack(dataset, recipe, control);
  Recipe single = recipe;
  single.stack = Stacking::kNever;
  return FitOneNetwork(dataset, single, control);
}

Model FitOneNetwork(const Dataset& dataset, const Recipe& recipe, const FitControl& control,
                    OfStack stack) {
  const Stopwatch watch;
  Checkpoint run;
  Model& model = run.model;
  model.companions = std::move(stack.companions);
  model.recipe = recipe;
  model.schema = dataset.schema.inputs.empty()
                     ? NumericSchema(dataset.input_names, dataset.target_names)
                     : dataset.schema;
  model.recipe.start.seed = recipe.seed;
  model.recipe.optimizer.seed = recipe.seed;
  ResolveSteps(dataset.rows(), &model.recipe);
  model.data = {stack.fingerprint.empty() ? Fingerprint(dataset) : stack.fingerprint,
                control.origin, control.settings};
  model.input_names = dataset.input_names;
  model.target_names = dataset.target_names;
  model.input_scaler = FitScaler(dataset.inputs.mean, dataset.weights);
  model.recipe.architecture.likelihood = ChooseLikelihood(recipe.architecture.likelihood, dataset);
  const auto likelihood = MakeLikelihood(model.recipe.architecture.likelihood);
  model.target_scaler = FitTargetScaler(*likelihood, dataset);
  if (!VariesAtAll(model.target_scaler)) {
    // Nothing holds the noise up but its floor. N equal rows make a difference of the target's own
    // size unlikely, not impossible.
    double& floor = model.recipe.noise_floor;
    floor = std::max(floor, 1 / static_cast<double>(dataset.rows() + 1));
  }
  const Matrix y = Observations(*likelihood, model.target_scaler, dataset);
  // What a linear fit explains of a target is known of numbers only.
  const bool judge = recipe.whitening == Whitening::kAuto && likelihood->TakesScaledTargets();
  const Moments x = WhitenedInputs(dataset.inputs, judge ? y : Matrix(y.rows(), 0),
                                   recipe.whitening, &model.input_scaler);
  model.network = Initialize(model.recipe.architecture, model.recipe.start, x.mean,
                             NumOutputs(*likelihood, dataset));
  likelihood->StartFrom(y, &model.network.likelihood_parameters);
  run.state = MinimizeState(Pack(model.network, PackingOf(model.recipe)));
  run.state.seconds = control.seconds_before + watch.Seconds();
  return Training(x, y, dataset.weights, std::move(run), control, stack.since_checkpoint).Run();
}

Model Resume(const Dataset& dataset, Checkpoint checkpoint, const FitControl& control) {
  const Model& model = checkpoint.model;
  CheckRecipe(model.recipe);
  for (const Model& companion : model.companions) CheckRecipe(companion.recipe);
  ResolveSteps(dataset.rows(), &checkpoint.model.recipe);
  CheckDataset(dataset);
  RequireSameData(dataset, model);
  return model.recipe.stack == Stacking::kNever
             ? ResumeOneNetwork(dataset, std::move(checkpoint), control)
             : ResumeStack(dataset, std::move(checkpoint), control);
}

Model ResumeOneNetwork(const Dataset& dataset, Checkpoint checkpoint, const FitControl& control,
                       Stopwatch* since_checkpoint) {
  const Stopwatch watch;
  const Model& model = checkpoint.model;
  const Moments x = StandardizeInputs(model.input_scaler, dataset.inputs);
  const Matrix y = Observations(*model.network.likelihood, model.target_scaler, dataset);
  checkpoint.state.seconds += control.seconds_before + watch.Seconds();
  return Training(x, y, dataset.weights, std::move(checkpoint), control, since_checkpoint).Run();
}

Checkpoint StartAgain(Model model, Index steps) {
  Recipe& recipe = model.recipe;
  if (recipe.stack != Stacking::kNever)
    ThrowError(
        "a stack of networks cannot be trained further; fit it anew, or one network: with "
        "--stack never");
  Require(model.summary.steps >= 0, "steps of the model", "at least 0", model.summary.steps);
  recipe.optimizer.time_budget = 0;
  recipe.optimizer.steps = recipe.low_noise_steps = steps;
  MinimizeState state(Pack(model.network, PackingOf(recipe)), model.summary.steps);
  const Index steps_before = model.summary.steps;
  return {std::move(model), std::move(state), {{}, steps_before}};
}

}  // namespace fathom
