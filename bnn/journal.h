// What a fit remembers so that it can be stopped and go on to the same bits.
//
// A fit is made of jobs that run side by side and do not know of each other: a chain, a trial of
// some setting, a training. Each has a name and a state of its own, so that their states need not
// be of the same moment.
#ifndef FATHOM_BNN_JOURNAL_H_
#define FATHOM_BNN_JOURNAL_H_

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "fathom/base/stopwatch.h"
#include "fathom/base/types.h"

namespace fathom::bnn {

using JobState = std::map<std::string, Matrix>;     // arrays by their names
using JobStates = std::map<std::string, JobState>;  // by the names of the jobs

// The newest state of every job. Any thread may call any function.
class Journal {
 public:
  using Writer = std::function<void(const JobStates&)>;

  // Calls `write` with all states about every so many seconds, in the thread of some job.
  Journal(JobStates known, double seconds, Writer write);

  // Nothing if the job has not kept a state.
  const JobState* Find(const std::string& job) const;
  void Begin(const std::string& job);
  void End(const std::string& job);
  // Whether the job should keep its state now, because the others do.
  bool Due(const std::string& job);
  void Keep(const std::string& job, JobState state);
  void Forget(const std::string& job);
  // Writes all states, such as they are.
  void Write();

 private:
  void WriteIfComplete();

  mutable std::mutex mutex_;
  JobStates states_;
  double seconds_;
  Writer write_;
  Stopwatch since_written_;
  bool collecting_ = false;         // for the next time to write
  std::set<std::string> running_;   // jobs
  std::set<std::string> kept_now_;  // jobs that have kept their state since collecting began
};

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_JOURNAL_H_
