// A pool of threads that runs numbered, independent jobs. Which thread runs a job is not
// determined, so a job must not depend on it; sums over jobs are added by the caller in the order
// of their numbers, which makes every result the same for any number of threads.
#ifndef FATHOM_BASE_THREADS_H_
#define FATHOM_BASE_THREADS_H_

#include <memory>
#include <type_traits>

#include "fathom/base/export.h"
#include "fathom/base/types.h"

namespace fathom FATHOM_PUBLIC {

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
  // threads; one Run then waits for the other. A job must not call Run. Allocates nothing.
  // In a process that was forked after the pool was made, the caller runs all jobs itself.
  //
  // A job may take a second argument, its worker: a number below size() that no other job has at
  // the same time. It is for scratch memory, which stays in the cache of a core.
  template <typename Job>
  void Run(Index count, const Job& job) const {
    RunErased(count, &job, [](const void* erased, Index i, int worker) {
      const Job& typed = *static_cast<const Job*>(erased);
      if constexpr (std::is_invocable_v<const Job&, Index, int>) {
        typed(i, worker);
      } else {
        typed(i);
      }
    });
  }

 private:
  using ErasedJob = void (*)(const void* job, Index i, int worker);
  void RunErased(Index count, const void* job, ErasedJob call) const;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom

#endif  // FATHOM_BASE_THREADS_H_
