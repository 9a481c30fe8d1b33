#include "cli/bench_report.h"

#include <cstdio>

#include "cli/common.h"
#include "fathom/evaluate/score_kinds.h"

namespace fathom::cli {

namespace {

std::string HumanLine(const UnitRecord& record) {
  char buffer[300];
  std::snprintf(buffer, sizeof(buffer), "%-12s split %2ld  %-12s ", record.dataset.c_str(),
                static_cast<long>(record.split), record.method.c_str());
  std::string text = buffer;
  if (record.failed()) return text + " FAILED: " + *record.outcome.failure + "\n";
  for (const ScoreKind* kind : TabledScores()) {
    if (!record.Has(*kind)) continue;
    std::snprintf(buffer, sizeof(buffer),
                  kind->IsCalled("log_likelihood") ? "%s %9.4f  " : "%s %9.4g  ", kind->label,
                  record.outcome.scores->Get(*kind));
    text += buffer;
  }
  std::snprintf(buffer, sizeof(buffer), "%7.1f s  %6.0f MB\n", record.cpu_seconds.value_or(0),
                static_cast<double>(record.peak_memory.value_or(0)) / 1e6);
  return text + buffer;
}

}  // namespace

BenchReport::BenchReport(const std::vector<Unit>& units, bool quiet)
    : left_(units.size()), quiet_(quiet) {
  for (const Unit& unit : units) total_work_ += unit.work;
  work_left_ = total_work_;
}

void BenchReport::Start(const Unit& unit) { newest_ = unit.dataset + " " + unit.method->name; }

void BenchReport::End(const Unit& unit, const UnitRecord& record) {
  --left_;
  work_left_ -= unit.work;
  failed_ += record.failed();
  if (!quiet_ && !bar_.on_terminal()) WriteOut(HumanLine(record));
}

void BenchReport::Tick(bool stops) {
  if (stops && !told_to_wait_ && !bar_.on_terminal())
    Complain("waiting for the units that run; once more gives them up");
  told_to_wait_ = stops;
  const double done = left_ == 0 ? 1 : 1 - work_left_ / total_work_;
  const std::string time_left =
      done > 0 ? TimeText(watch_.Seconds() * (1 - done) / done) + " left, " : "";
  bar_.Show(BarText(done) + "  " + std::to_string(left_) + " units to go, " + time_left +
            std::to_string(failed_) + " failed, " +
            (stops ? "waiting for those that run" : "newest: " + newest_));
}

}  // namespace fathom::cli
