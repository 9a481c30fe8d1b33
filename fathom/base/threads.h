// A pool of threads that runs numbered, independent jobs. Which thread runs a job is not
// determined, so a job must not depend on it; sums over jobs are added by the caller in the order
// of their numbers, which makes every result the same for any number of threads.
#ifndef FATHOM_BASE_THREADS_H_
#define FATHOM_BASE_THREADS_H_

#include <functional>
#include <memory>

#include "fathom/base/types.h"

namespace fathom {

class ThreadPool {
 public:
  // `threads` counts the caller, which works too: 1 means no further thread. 0 means all cores.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;

  // Calls job(0), ..., job(count - 1) and returns when all are done. If jobs throw, all jobs still
  // run and the exception of the lowest-numbered one is rethrown. May be called from several
  // threads; one Run then waits for the other. A job must not call Run.
  void Run(Index count, const std::function<void(Index)>& job) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom

#endif  // FATHOM_BASE_THREADS_H_
