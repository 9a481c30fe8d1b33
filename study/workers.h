// Jobs in processes of their own, several at a time: what a job does to its memory, or its death,
// touches no other, and the system says exactly what it cost. Several ranks share the jobs: rank 0
// hands them out and hears how they end.
#ifndef FATHOM_STUDY_WORKERS_H_
#define FATHOM_STUDY_WORKERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fathom/distributed/communicator.h"

namespace fathom {

struct JobEnd {
  std::string output;  // what the job returned; empty if it did not come to that
  std::string death;   // why it did not, in words
  double cpu_seconds = 0, wall_seconds = 0;
  std::int64_t peak_memory = 0;  // bytes
  std::string machine;           // of the rank
};

// Runs a job, which its text describes, in a process of its own. Must not throw.
using RunJob = std::function<std::string(const std::string& job)>;

struct WorkersOptions {
  int processes = 1;      // on each rank
  double cpu_budget = 0;  // seconds for each job, after which it is ended; 0: no limit
  std::string machine = {};
};

struct WorkersCalls {
  RunJob run;
  std::function<void(std::size_t job)> on_start = [](std::size_t) {};
  std::function<void(std::size_t job, const JobEnd& end)> on_end;
  // Asked about five times a second and after each signal; once it says yes, no job starts any more
  // and those that run are waited for.
  std::function<bool()> wants_to_stop = [] { return false; };
};

// Runs the jobs in their order. The jobs end with the process of their rank, however it ends, and
// they ignore Ctrl-C, which is for rank 0 to obey. There must be no other threads that hold locks.
// Throws Error if the system refuses a process. Rank 0 calls it, and the other ranks
// HelpInProcesses.
void RunInProcesses(const std::vector<std::string>& jobs, const WorkersOptions& options,
                    const WorkersCalls& calls, const Communicator& ranks = Alone());
void HelpInProcesses(const WorkersOptions& options, const RunJob& run, const Communicator& ranks);

}  // namespace fathom

#endif  // FATHOM_STUDY_WORKERS_H_
