// The clocks of the benchmarks. The machine may be shared, so a time is the best of several, and of
// one thread it is processor time, which does not count the time of others.
#ifndef FATHOM_BENCH_CLOCK_H_
#define FATHOM_BENCH_CLOCK_H_

#include <ctime>

#include <algorithm>
#include <limits>

namespace fathom::bench {

inline double SecondsOf(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
inline double ThreadCpuSeconds() { return SecondsOf(CLOCK_THREAD_CPUTIME_ID); }
inline double WallSeconds() { return SecondsOf(CLOCK_MONOTONIC); }

// Processor time of one call, the best of `repeats`.
template <class Call>
double BestCpuSeconds(int repeats, const Call& call) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repeats; ++i) {
    const double begin = ThreadCpuSeconds();
    call();
    best = std::min(best, ThreadCpuSeconds() - begin);
  }
  return best;
}

}  // namespace fathom::bench

#endif  // FATHOM_BENCH_CLOCK_H_
