// Jobs in processes of their own, several at a time: what a job does to its memory, or its death,
// touches no other, and the system says exactly what it cost.
#ifndef FATHOM_STUDY_WORKERS_H_
#define FATHOM_STUDY_WORKERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace fathom {

struct JobEnd {
  std::string output;  // what the job returned; empty if it did not come to that
  std::string death;   // why it did not, in words
  double cpu_seconds = 0, wall_seconds = 0;
  std::int64_t peak_memory = 0;  // bytes
};

struct WorkersOptions {
  int processes = 1;
  double cpu_budget = 0;  // seconds for each job, after which it is ended; 0: no limit
};

struct WorkersCalls {
  // Runs in a process of its own. Must not throw.
  std::function<std::string(std::size_t job)> run;
  std::function<void(std::size_t job)> on_start = [](std::size_t) {};
  std::function<void(std::size_t job, const JobEnd& end)> on_end;
  // Asked about five times a second and after each signal; once it says yes, no job starts any more
  // and those that run are waited for.
  std::function<bool()> wants_to_stop = [] { return false; };
};

// Runs jobs 0, ..., count - 1 in this order. The jobs end with this process, however it ends, and
// they ignore Ctrl-C, which is for this process to obey. There must be no other threads. Throws
// Error if the system refuses a process.
void RunInProcesses(std::size_t count, const WorkersOptions& options, const WorkersCalls& calls);

}  // namespace fathom

#endif  // FATHOM_STUDY_WORKERS_H_
