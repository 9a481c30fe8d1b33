#include "fathom/base/threads.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fathom/base/error.h"

namespace fathom {
namespace {

class ThreadPoolOfSize : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Sizes, ThreadPoolOfSize, testing::Values(1, 2, 4, 9));

TEST_P(ThreadPoolOfSize, RunsEveryJobOnce) {
  const ThreadPool pool(GetParam());
  EXPECT_EQ(pool.size(), GetParam());
  for (const Index count : {0, 1, 2, 3, 100, 1000}) {
    std::vector<std::atomic<int>> calls(count);
    pool.Run(count, [&](Index i) { calls.at(i).fetch_add(1); });
    for (Index i = 0; i < count; ++i)
      EXPECT_EQ(calls[i].load(), 1) << "job " << i << " of " << count;
  }
}

TEST_P(ThreadPoolOfSize, ManyRunsInSequenceNeverMixTheirJobs) {
  const ThreadPool pool(GetParam());
  // Each Run has its own function and its own plain (not atomic) cells, so a worker that comes late
  // and takes a job of the next Run, or a Run that returns early, changes a number or is a race the
  // sanitizer reports.
  for (int run = 0; run < 3000; ++run) {
    const Index count = 1 + run % 7;
    std::vector<int> cells(count, -1);
    pool.Run(count, [&cells, run](Index i) { cells[i] = run; });
    ASSERT_EQ(cells, std::vector<int>(count, run));
  }
}

TEST_P(ThreadPoolOfSize, RethrowsTheLowestNumberedErrorAfterAllJobsRan) {
  const ThreadPool pool(GetParam());
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::array<std::atomic<int>, 40> calls{};
    std::string message;
    try {
      pool.Run(40, [&](Index i) {
        calls.at(i).fetch_add(1);
        if (i == 38 || i == 11 || i == 25) throw std::runtime_error("job " + std::to_string(i));
      });
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
    ASSERT_EQ(message, "job 11");
    for (const std::atomic<int>& count : calls) ASSERT_EQ(count.load(), 1);
  }
}

TEST_P(ThreadPoolOfSize, WorksAgainAfterAnError) {
  const ThreadPool pool(GetParam());
  EXPECT_THROW(pool.Run(5, [](Index) { ThrowError("bad"); }), Error);
  std::atomic<Index> sum{0};
  EXPECT_NO_THROW(pool.Run(5, [&](Index i) { sum += i; }));
  EXPECT_EQ(sum.load(), 10);
}

TEST_P(ThreadPoolOfSize, KeepsNothingAliveAfterRun) {
  const ThreadPool pool(GetParam());
  const auto witness = std::make_shared<int>(0);
  struct Held {
    std::shared_ptr<int> reference;
  };
  EXPECT_THROW(pool.Run(6, [&, copy = witness](Index) { throw Held{copy}; }), Held);
  EXPECT_EQ(witness.use_count(), 1);
}

TEST_P(ThreadPoolOfSize, RefusesAJobThatCallsRun) {
  const ThreadPool pool(GetParam());
  EXPECT_THROW(pool.Run(3, [&](Index) { pool.Run(2, [](Index) {}); }), InternalError);
  EXPECT_NO_THROW(pool.Run(3, [](Index) {}));
}

TEST(ThreadPool, OfOneRunsJobsInOrderOnTheCallingThread) {
  const ThreadPool pool(1);
  const std::thread::id caller = std::this_thread::get_id();
  std::vector<Index> order;
  pool.Run(4, [&](Index i) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    order.push_back(i);
  });
  EXPECT_EQ(order, (std::vector<Index>{0, 1, 2, 3}));
}

TEST(ThreadPool, ZeroMeansAllCoresAndNegativeIsRefused) {
  EXPECT_GE(ThreadPool(0).size(), 1);
  try {
    ThreadPool pool(-3);
    FAIL() << "-3 threads were accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "threads must be at least 0 (0 = all cores), not -3");
  }
}

TEST(ThreadPool, PoolsInsideJobsOfAnotherPoolAreIndependent) {
  const ThreadPool outer(3);
  std::array<Index, 6> sums{};
  outer.Run(6, [&](Index i) {
    const ThreadPool inner(2);
    std::array<Index, 10> squares{};
    inner.Run(10, [&](Index j) { squares[j] = i * j * j; });
    for (const Index square : squares) sums[i] += square;
  });
  for (Index i = 0; i < 6; ++i) EXPECT_EQ(sums[i], 285 * i);
}

TEST(ThreadPool, ComesAndGoesWithoutWork) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ThreadPool(3).size(), 3);
}

TEST(ThreadPool, WorksInAForkedProcess) {
  std::array<int, 100> cells{};
  auto pool = std::make_unique<ThreadPool>(3);
  pool->Run(100, [&](Index i) { cells[i] = 1; });
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // Its pool has no threads any more. It must neither wait for them nor join them.
    pool->Run(100, [&](Index i) { cells[i] += 2; });
    pool.reset();
    const ThreadPool own(2);
    own.Run(100, [&](Index i) { cells[i] += 4; });
    _exit(std::count(cells.begin(), cells.end(), 7) == 100 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  pool->Run(100, [&](Index i) { cells[i] = 8; });
  EXPECT_EQ(cells[99], 8);
}

}  // namespace
}  // namespace fathom
