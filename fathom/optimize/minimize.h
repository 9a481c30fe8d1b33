// Minimises an Objective by Adam on minibatches: linear warm-up, cosine decay, recovery from steps
// that cannot be computed, and an end that says why.
#ifndef FATHOM_OPTIMIZE_MINIMIZE_H_
#define FATHOM_OPTIMIZE_MINIMIZE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "fathom/optimize/adam.h"
#include "fathom/optimize/batches.h"
#include "fathom/optimize/objective.h"
#include "fathom/optimize/options.h"
#include "fathom/optimize/progress.h"

namespace fathom {

// Where a run stands.
struct MinimizePoint {
  Vector parameters;
  AdamState adam;
  Index step = 0;
  double smoothed = 0;       // moving average of the value over steps
  double best_smoothed = 0;  // for the plateau rule
  Index best_step = 0;
  Index cool_down_from = -1;  // the step at which the plateau rule struck, or -1
};

// Everything that a run consists of; copy it to save the run, pass it on to continue to the same
// bits.
struct MinimizeState : MinimizePoint {
  MinimizePoint fallback;  // a good point to which a recovery goes back
  // Where the schedule begins: not 0 if the parameters come from an earlier run of so many steps.
  Index first_step = 0;
  double rate_scale = 1;  // halved by each recovery
  int recoveries = 0;
  double seconds = 0;  // spent, without the time between a stop and its continuation

  explicit MinimizeState(Vector start = Vector(), Index first = 0) : first_step(first) {
    parameters = std::move(start);
    adam = AdamState(parameters.size());
    step = best_step = first;
    fallback = *this;
  }
};

struct Summary {
  StopReason reason = StopReason::kFinished;
  std::string message;
  Index steps = 0;
  double value = 0;  // smoothed, at the end
  int recoveries = 0;
  double seconds = 0;
};

// Returns false to stop the run after the present step.
using ProgressCallback = std::function<bool(const Progress&, const MinimizeState&)>;

// Called when a step could not be computed and the run has gone back to *state: for what an
// objective keeps beside its parameters.
using RecoveryCallback = std::function<void(const MinimizeState&)>;

// Runs until an end, on batches that follow from `seed`. *state then holds the parameters after the
// last step, or, after a failure, the last ones that are known to be good. `callback` may be null;
// it is called after each step.
Summary Minimize(const Objective& objective, const MinimizeOptions& options, std::uint64_t seed,
                 const ProgressCallback& callback, MinimizeState* state,
                 const RecoveryCallback& on_recovery = {});

}  // namespace fathom

#endif  // FATHOM_OPTIMIZE_MINIMIZE_H_
