// What a run of Minimize tells on its way and at its end.
#ifndef FATHOM_OPTIMIZE_PROGRESS_H_
#define FATHOM_OPTIMIZE_PROGRESS_H_

#include <array>

#include "fathom/base/enum_names.h"
#include "fathom/base/export.h"
#include "fathom/base/types.h"

namespace fathom FATHOM_PUBLIC {

struct Progress {
  Index step = 0;
  Index steps = 0;   // the last one that is planned
  double value = 0;  // smoothed
  double rate = 0;   // of learning
  double seconds = 0;
  double fraction = 0;  // of the run that is done, in steps or in time
};

enum class StopReason { kFinished, kConverged, kTimeBudget, kInterrupted, kNumericalFailure };
constexpr auto NamesOf(StopReason) {
  return std::to_array<EnumName<StopReason>>(
      {{StopReason::kFinished, "finished"},
       {StopReason::kConverged, "converged"},
       {StopReason::kTimeBudget, "time budget"},
       {StopReason::kInterrupted, "interrupted"},
       {StopReason::kNumericalFailure, "numerical failure"}});
}

}  // namespace fathom

#endif  // FATHOM_OPTIMIZE_PROGRESS_H_
