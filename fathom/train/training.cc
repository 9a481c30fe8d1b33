#include "fathom/train/training.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/stopwatch.h"
#include "fathom/fitted/describe.h"
#include "fathom/train/engine.h"
#include "fathom/train/start.h"
#include "fathom/train/train_together.h"

namespace fathom {

namespace {

// A training from some state of the optimiser to an end.
class NetworkTraining {
 public:
  // Keeps references to rows and control. `since_checkpoint` may be null.
  NetworkTraining(const DatasetRows& rows, Checkpoint run, const FitControl& control,
                  Stopwatch* since_checkpoint)
      : run_(std::move(run)),
        control_(control),
        pool_(run_.network.recipe.threads),
        rows_(rows, run_.network),
        engine_(TrainTogether(run_, {rows_, control.memory},
                              control.ranks != nullptr ? *control.ranks : Alone(), pool_)),
        optimizer_(run_.network.recipe.optimizer),
        since_checkpoint_(since_checkpoint != nullptr ? since_checkpoint : &own_clock_) {
    optimizer_.batch_size = engine_->BatchSize(optimizer_.batch_size);
    if (run_.lengthened) PlanLonger();
    steps_per_epoch_ = StepsPerEpoch(rows_.rows(), optimizer_.batch_size);
  }

  NetworkInTraining Run() {
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
    return std::move(run_.network);
  }

 private:
  // Whether the parameters are good for a model.
  bool Close(const Summary& end) {
    try {
      if (end.reason != StopReason::kTimeBudget && end.reason != StopReason::kInterrupted)
        engine_->Settle(run_.state.parameters);
      UpdateModel(end);
      const Engine::Closing closing = engine_->Close(run_.state.parameters, ClosingRows(end));
      run_.network.summary.energy_per_row = closing.energy_per_row;
      run_.network.summary.largest_jitter = closing.largest_jitter;
      return std::isfinite(closing.energy_per_row);
    } catch (const NumericalError&) {
      return false;
    }
  }

  // A pass over a table of millions would take longer than the training, and who has interrupted it
  // waits for no more than a step.
  Index ClosingRows(const Summary& end) const {
    constexpr Index kMost = 10000;
    return end.reason == StopReason::kInterrupted ? std::min(kMost, optimizer_.batch_size) : kMost;
  }

  Summary Optimize() {
    goes_on_ = false;
    return Minimize(
        engine_->objective(), optimizer_, run_.network.recipe.seed,
        [this](const Progress& progress, const MinimizeState&) { return AfterStep(progress); },
        &run_.state, [this](const MinimizeState& state) { engine_->Recover(state.parameters); });
  }

  bool AfterStep(const Progress& progress) {
    engine_->AfterStep(run_.state.parameters);
    const bool lengthen = LearnsMore();
    if (lengthen) PlanLonger();
    if (control_.on_epoch && progress.step % steps_per_epoch_ == 0) ReportEpoch(progress);
    const bool go_on = !control_.callback || control_.callback(progress);
    const bool due = since_checkpoint_->Seconds() >= control_.checkpoint_interval;
    if (!control_.checkpoint.empty() && (due || !go_on)) WriteCheckpoint();
    goes_on_ = lengthen && go_on;
    return go_on && !lengthen;
  }

  Index LowNoiseSteps() const { return run_.network.recipe.low_noise_steps; }

  // The rate goes up again with the longer schedule, and the energy down for a while, which the
  // plateau rule would take for the end. The recipe stays as it is: other networks of an ensemble
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
    engine_->Write(run_.state.parameters, &run_.network.network);
    return LeavesLittleNoise(run_.network.network);
  }

  void ReportEpoch(const Progress& progress) {
    engine_->Write(run_.state.parameters, &run_.network.network);
    control_.on_epoch({.epoch = progress.step / steps_per_epoch_,
                       .step = progress.step,
                       .energy_per_row = -progress.value,
                       .learning_rate = progress.rate,
                       .noise_std = NoiseStd(run_.network.network, run_.network.target_scaler),
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
    engine_->Write(run_.state.parameters, &run_.network.network);
    run_.network.summary = {engine_->objective().num_rows(),
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
  TrainingRows rows_;
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
  // With more effort than usual some of these steps are made anyway; with less there are fewer.
  const double longer = 4 * std::min(recipe->effort, 1.0) * static_cast<double>(DefaultSteps(rows));
  if (low_noise_steps == 0) low_noise_steps = std::max(steps, static_cast<Index>(longer));
}

Checkpoint TrainFurther(const Member& member, Index steps) {
  Checkpoint start;
  start.network = FromMember(member);
  Recipe& recipe = start.network.recipe;
  const Index steps_before = start.network.summary.steps;
  Require(steps_before >= 0, "steps of the model", "at least 0", steps_before);
  recipe.stack = Stacking::kNever;
  recipe.optimizer.time_budget = 0;
  recipe.optimizer.steps = recipe.low_noise_steps = steps;
  start.state = MinimizeState(Pack(start.network.network, PackingOf(recipe)), steps_before);
  start.factors.updates = steps_before;
  return start;
}

Member TrainNetwork(const Dataset& dataset, const Recipe& recipe, const FitControl& control,
                    const TrainingContext& context) {
  return TrainNetwork(RowsInMemory(dataset), recipe, control, context);
}

Member TrainNetwork(const DatasetRows& rows, const Recipe& recipe, const FitControl& control,
                    const TrainingContext& context) {
  const Stopwatch watch;
  Checkpoint run{.schema = context.schema,
                 .data = context.data,
                 .asked = context.asked,
                 .done = context.done,
                 .network = StartNetwork(rows, recipe, context.screen)};
  run.state = MinimizeState(Pack(run.network.network, PackingOf(run.network.recipe)));
  run.state.seconds = control.seconds_before + watch.Seconds();
  NetworkTraining training(rows, std::move(run), control, context.since_checkpoint);
  return ToMember(training.Run());
}

Member ContinueTraining(const Dataset& dataset, Checkpoint checkpoint, const FitControl& control,
                        Stopwatch* since_checkpoint) {
  return ContinueTraining(RowsInMemory(dataset), std::move(checkpoint), control, since_checkpoint);
}

Member ContinueTraining(const DatasetRows& rows, Checkpoint checkpoint, const FitControl& control,
                        Stopwatch* since_checkpoint) {
  checkpoint.state.seconds += control.seconds_before;
  NetworkTraining training(rows, std::move(checkpoint), control, since_checkpoint);
  return ToMember(training.Run());
}

}  // namespace fathom
