// Runs the units of a study in processes of their own and records how they ended.
#ifndef FATHOM_STUDY_RUN_STUDY_H_
#define FATHOM_STUDY_RUN_STUDY_H_

#include <functional>
#include <string>
#include <vector>

#include "fathom/distributed/communicator.h"
#include "study/results_file.h"
#include "study/study.h"
#include "study/units.h"

namespace fathom {

struct RunStudyOptions {
  std::string study;  // as LoadStudy takes it
  std::string data;   // the folder of the datasets
  int processes = 0;  // at a time on each rank; 0: as many as cores
};

// What accompanies a run. Nothing here changes its results.
struct RunStudyCalls {
  std::function<void(const Unit&)> on_start = [](const Unit&) {};
  std::function<void(const Unit&, const UnitRecord&)> on_end = [](const Unit&, const UnitRecord&) {
  };
  // Asked about five times a second; once it says yes, no unit starts any more and those that run
  // are waited for.
  std::function<bool()> wants_to_stop = [] { return false; };
};

// Runs the units in their order and adds a record for each to the results as it ends. A unit that
// fails, dies or uses up the study's budget is recorded as a failure. There must be no other
// threads that hold locks.
void RunUnits(const Study& study, const std::vector<Unit>& units, const RunStudyOptions& options,
              const RunStudyCalls& calls, const Communicator& ranks, ResultsFile* results);

// The other ranks, after Order::kStudy: runs the units that rank 0 hands out. The study and the
// folder of its data must be found here, too. Throws as LoadStudy does.
void HelpUnits(const std::vector<MethodKind>& kinds, const Communicator& ranks);

}  // namespace fathom

#endif  // FATHOM_STUDY_RUN_STUDY_H_
