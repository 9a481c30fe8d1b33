#include "fathom/base/threads.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "fathom/base/error.h"

namespace fathom {

namespace {

// The pool whose job the thread is running, if any.
thread_local const void* working_for = nullptr;

// How many forks lie between this process and the one that loaded the library. A forked process has
// only the thread that forked it, and locks of the others stay as they were.
std::atomic<int> forks{0};

int CountForks() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  FATHOM_CHECK(registered == 0);
  return forks.load(std::memory_order_relaxed);
}

}  // namespace

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable work_ready;
  std::condition_variable work_done;
  std::vector<std::thread> threads;
  const int born = CountForks();

  // A Run in progress. Workers read `job`, `call` and `count` only between seeing a new generation
  // under the mutex and counting themselves out of `active`, and Run ends only when all have, so no
  // worker outlives its Run.
  std::mutex one_run;
  const void* job = nullptr;
  ErasedJob call = nullptr;
  Index count = 0;
  std::atomic<Index> next{0};
  std::atomic<std::uint64_t> generation{0};
  std::atomic<int> active{0};
  bool stopping = false;
  std::exception_ptr first_error;
  Index first_error_job = 0;

  // Also reached when the constructor of the pool gives up half-way: a thread must be joined before
  // it is destroyed, or the program ends.
  ~State() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
      generation.fetch_add(1);  // ends the spinning: 2000 yields last 0.6 s on a busy machine
    }
    work_ready.notify_all();
    for (std::thread& thread : threads) thread.join();
  }

  bool IsForked() const { return CountForks() != born; }

  // Runs all jobs on this thread and touches nothing that another thread may have held at the fork.
  static void RunAlone(Index jobs, const void* job, ErasedJob call) {
    std::exception_ptr error;
    for (Index i = 0; i < jobs; ++i) {
      try {
        call(job, i, 0);
      } catch (...) {
        if (!error) error = std::current_exception();
      }
    }
    if (error) std::rethrow_exception(std::move(error));
  }

  void Work(int worker) {
    const void* outer = std::exchange(working_for, this);
    for (Index i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
      try {
        call(job, i, worker);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first_error || i < first_error_job) {
          first_error = std::current_exception();
          first_error_job = i;
        }
      }
    }
    working_for = outer;
  }

  void Serve(int worker) {
    // Steps follow each other within microseconds, so a short spin saves most of the wake-ups.
    constexpr int kSpins = 2000;
    std::uint64_t seen = 0;
    for (;;) {
      for (int i = 0; i < kSpins && generation.load(std::memory_order_acquire) == seen; ++i) {
        std::this_thread::yield();
      }
      {
        std::unique_lock lock(mutex);
        work_ready.wait(lock, [&] { return stopping || generation.load() != seen; });
        if (stopping) return;
        seen = generation.load();
      }
      Work(worker);
      if (active.fetch_sub(1) == 1) {
        const std::lock_guard lock(mutex);
        work_done.notify_one();
      }
    }
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  Require(threads >= 0, "threads", "at least 0 (0 = all cores)", threads);
  if (threads == 0) threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  for (int i = 1; i < threads; ++i) {
    try {
      state_->threads.emplace_back([state = state_.get(), i] { state->Serve(i); });
    } catch (const std::system_error& error) {
      ThrowError("threads: the system refuses thread ", i + 1, " of ", threads, " (", error.what(),
                 "); ask for at most ", i);
    }
  }
}

ThreadPool::~ThreadPool() {
  // The threads of another process cannot be joined. What they worked with is left to the system.
  if (state_->IsForked()) static_cast<void>(state_.release());
}

int ThreadPool::size() const { return static_cast<int>(state_->threads.size()) + 1; }

void ThreadPool::RunErased(Index count, const void* job, ErasedJob call) const {
  if (count <= 0) return;
  State& state = *state_;
  if (state.IsForked()) return State::RunAlone(count, job, call);
  FATHOM_CHECK(working_for != state_.get());  // a job must not call Run: it would wait for itself
  std::unique_lock one_run(state.one_run);
  {
    const std::lock_guard lock(state.mutex);
    state.job = job;
    state.call = call;
    state.count = count;
    state.next = 0;
    if (count > 1) {
      state.active = static_cast<int>(state.threads.size());
      state.generation.fetch_add(1, std::memory_order_release);
    }
  }
  if (count > 1) state.work_ready.notify_all();
  state.Work(0);
  std::exception_ptr error;
  {
    std::unique_lock lock(state.mutex);
    state.work_done.wait(lock, [&] { return state.active.load() == 0; });
    state.job = nullptr;
    error = std::exchange(state.first_error, nullptr);
  }
  one_run.unlock();
  if (error) std::rethrow_exception(std::move(error));
}

}  // namespace fathom
