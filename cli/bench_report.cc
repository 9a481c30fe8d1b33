#include "cli/bench_report.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/common.h"
#include "cli/embedded.h"
#include "fathom/evaluate/score_kinds.h"

namespace fathom::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string Machine() {
  std::string model = "unknown";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    model = line.substr(std::min(line.find(':') + 2, line.size()));
    break;
  }
  utsname name{};
  ::uname(&name);
  return model + ", " + std::to_string(std::thread::hardware_concurrency()) + " cores, " +
         name.machine;
}

std::string Now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char buffer[40];
  std::strftime(buffer, sizeof(buffer), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return buffer;
}

std::string HumanLine(const Json& line) {
  char buffer[300];
  std::snprintf(buffer, sizeof(buffer), "%-12s split %2ld  %-12s ",
                line["dataset"].get<std::string>().c_str(), line["split"].get<long>(),
                line["method"].get<std::string>().c_str());
  std::string text = buffer;
  if (IsFailure(line)) return text + " FAILED: " + line["failure"].get<std::string>() + "\n";
  const Json& scores = line["scores"];
  for (const ScoreKind* kind : TabledScores()) {
    if (!scores.contains(kind->study_key)) continue;
    std::snprintf(buffer, sizeof(buffer),
                  kind->IsCalled("log_likelihood") ? "%s %9.4f  " : "%s %9.4g  ", kind->label,
                  scores[kind->study_key].get<double>());
    text += buffer;
  }
  std::snprintf(buffer, sizeof(buffer), "%7.1f s  %6.0f MB\n", line["cpu_seconds"].get<double>(),
                line["peak_memory"].get<double>() / 1e6);
  return text + buffer;
}

}  // namespace

Json ResultLine(const std::string& study, const Unit& unit, const JobEnd& end) {
  Json line = {{"study", study},
               {"dataset", unit.dataset},
               {"split", static_cast<std::uint64_t>(unit.split)},
               {"method", unit.method->name}};
  if (end.death.empty()) {
    line.update(Json::parse(end.output));
  } else {
    line["failure"] = end.death;
  }
  line["settings"] = unit.method->method->Settings();
  if (line["settings"].contains("seed")) line["seed"] = line["settings"]["seed"];
  const auto to_ms = [](double seconds) { return std::round(1000 * seconds) / 1000; };
  line["cpu_seconds"] = to_ms(end.cpu_seconds);
  line["wall_seconds"] = to_ms(end.wall_seconds);
  line["peak_memory"] = end.peak_memory;  // bytes
  line["commit"] = BuildCommit();
  line["machine"] = Machine();
  line["date"] = Now();
  return line;
}

BenchReport::BenchReport(const std::vector<Unit>& units, bool quiet)
    : left_(units.size()), quiet_(quiet) {
  for (const Unit& unit : units) total_work_ += unit.work;
  work_left_ = total_work_;
}

void BenchReport::Start(const Unit& unit) { newest_ = unit.dataset + " " + unit.method->name; }

void BenchReport::End(const Unit& unit, const Json& line) {
  --left_;
  work_left_ -= unit.work;
  failed_ += IsFailure(line);
  if (!quiet_ && !bar_.on_terminal()) WriteOut(HumanLine(line));
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
