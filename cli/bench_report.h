// Shows how far a study is.
#ifndef FATHOM_CLI_BENCH_REPORT_H_
#define FATHOM_CLI_BENCH_REPORT_H_

#include <string>
#include <vector>

#include "cli/progress.h"
#include "fathom/base/stopwatch.h"
#include "study/units.h"

namespace fathom::cli {

// A line on standard output per unit (none if `quiet`) or, on a terminal, one that changes.
class BenchReport {
 public:
  BenchReport(const std::vector<Unit>& units, bool quiet);

  void Start(const Unit& unit);
  void End(const Unit& unit, const UnitRecord& record);
  // Keeps the time fresh; may be called often.
  void Tick(bool stops);

 private:
  ProgressBar bar_;
  Stopwatch watch_;
  std::size_t left_ = 0, failed_ = 0;
  double work_left_ = 0, total_work_ = 0;
  std::string newest_;
  bool quiet_, told_to_wait_ = false;
};

}  // namespace fathom::cli

#endif  // FATHOM_CLI_BENCH_REPORT_H_
