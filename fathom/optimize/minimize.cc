#include "fathom/optimize/minimize.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <sstream>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/stopwatch.h"
#include "fathom/optimize/batches.h"

namespace fathom {

namespace {

// Warm-up, then half a cosine over what is left or a constant; pressed to zero early by the plateau
// rule.
double RateAt(const MinimizeOptions& options, const MinimizeState& state, double fraction) {
  const auto step = static_cast<double>(state.step);
  const auto first = static_cast<double>(state.first_step);
  double rate = options.learning_rate * state.rate_scale;
  if (options.warm_up > 0)
    rate *= std::min(1.0, (step - first + 1) / static_cast<double>(options.warm_up));
  if (options.decay) rate *= 0.5 * (1 + std::cos(std::numbers::pi * std::min(1.0, fraction)));
  if (state.cool_down_from >= 0) {
    const double cooled =
        (step - static_cast<double>(state.cool_down_from)) / static_cast<double>(options.cool_down);
    rate *= std::max(0.0, 1 - cooled);
  }
  return rate;
}

constexpr double kSmoothing = 0.05;      // weight of the newest value
constexpr Index kFallbackInterval = 25;  // steps between the points that a recovery can go back to

// A value so far above the best one is no longer a model in training; the state that led here is
// given up.
bool Exploded(double value, const MinimizeState& state) {
  return state.step > state.first_step &&
         value > state.best_smoothed + 1e4 * (1 + std::abs(state.best_smoothed));
}

void WatchPlateau(const MinimizeOptions& options, double value, MinimizeState* state) {
  const Index done = state->step - state->first_step;
  state->smoothed = done == 0 ? value : state->smoothed + kSmoothing * (value - state->smoothed);
  const bool warming_up = done <= options.warm_up;
  if (warming_up || state->smoothed < state->best_smoothed - options.tolerance) {
    state->best_smoothed = state->smoothed;
    state->best_step = state->step;
  }
  const bool flat = state->step - state->best_step >= options.patience;
  if (options.patience > 0 && flat && state->cool_down_from < 0)
    state->cool_down_from = state->step;
}

Summary Summarize(StopReason reason, const std::string& message, const MinimizeState& state) {
  return {reason, message, state.step, state.smoothed, state.recoveries, state.seconds};
}

// How much of the planned steps and of the time budget is used up; 1 is all.
struct Spent {
  double steps, time;
};

Spent SpentBy(const MinimizeOptions& options, const MinimizeState& state) {
  const auto done = static_cast<double>(state.step - state.first_step);
  return {options.steps > 0 ? done / static_cast<double>(options.steps) : 1,
          options.time_budget > 0 ? state.seconds / options.time_budget : 0};
}

std::optional<Summary> PlannedEnd(const MinimizeOptions& options, const Spent& spent,
                                  const MinimizeState& state) {
  if (spent.steps >= 1)
    return Summarize(StopReason::kFinished, "the planned steps are done", state);
  if (spent.time >= 1)
    return Summarize(StopReason::kTimeBudget, "the time budget is used up", state);
  if (state.cool_down_from >= 0 && state.step - state.cool_down_from >= options.cool_down)
    return Summarize(StopReason::kConverged, "the energy has stopped improving", state);
  return std::nullopt;
}

// Goes back to the last good point, with half the rate; gives up after too many times.
std::optional<Summary> Recover(const MinimizeOptions& options, const std::string& why,
                               MinimizeState* state) {
  static_cast<MinimizePoint&>(*state) = state->fallback;
  state->rate_scale *= 0.5;
  ++state->recoveries;
  if (state->recoveries <= options.max_recoveries) return std::nullopt;
  std::ostringstream text;
  text << "gave up at step " << state->step << " after " << state->recoveries
       << " failures: " << why
       << "; look for extreme numbers in the table, or lower the learning rate";
  return Summarize(StopReason::kNumericalFailure, text.str(), *state);
}

}  // namespace

Summary Minimize(const Objective& objective, const MinimizeOptions& options, std::uint64_t seed,
                 const ProgressCallback& callback, MinimizeState* state,
                 const RecoveryCallback& on_recovery) {
  Require(options.steps >= 0, "steps", "at least 0", options.steps);
  Require(options.batch_size >= 1, "batch size", "at least 1", options.batch_size);
  Require(options.learning_rate > 0, "learning rate", "positive", options.learning_rate);
  FATHOM_CHECK(state->parameters.size() == objective.num_parameters() && objective.num_rows() > 0);
  const Stopwatch watch;
  const double seconds_before = state->seconds;
  Batches batches(objective.num_rows(), options.batch_size, seed);
  const Index last_step = state->first_step + options.steps;
  Vector gradient(state->parameters.size());
  std::string why;

  for (;;) {
    state->seconds = seconds_before + watch.Seconds();
    const Spent spent = SpentBy(options, *state);
    if (std::optional<Summary> end = PlannedEnd(options, spent, *state)) return *std::move(end);

    const double fraction = std::max(spent.steps, spent.time);
    const double rate = RateAt(options, *state, fraction);
    double value = 0;
    const Batch batch(batches.At(state->step), static_cast<std::uint64_t>(state->step));
    if (state->step + 1 < last_step) objective.WillNeed(batches.At(state->step + 1));
    bool good = objective.Evaluate(state->parameters, batch, &value, &gradient, &why);
    if (good && Exploded(value, *state)) {
      good = false;
      why = "the energy exploded";
    }
    if (!good) {
      if (std::optional<Summary> end = Recover(options, why, state)) return *std::move(end);
      if (on_recovery) on_recovery(*state);
      continue;
    }
    if (state->step % kFallbackInterval == 0) state->fallback = *state;
    WatchPlateau(options, value, state);
    AdamStep(options.adam, rate, gradient, &state->adam, &state->parameters);
    ++state->step;
    if (callback &&
        !callback({state->step, last_step, state->smoothed, rate, state->seconds, fraction},
                  *state)) {
      return Summarize(StopReason::kInterrupted, "interrupted", *state);
    }
  }
}

}  // namespace fathom
