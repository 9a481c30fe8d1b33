// The time since something began.
#ifndef FATHOM_BASE_STOPWATCH_H_
#define FATHOM_BASE_STOPWATCH_H_

#include <chrono>

namespace fathom {

class Stopwatch {
 public:
  double Seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace fathom

#endif  // FATHOM_BASE_STOPWATCH_H_
