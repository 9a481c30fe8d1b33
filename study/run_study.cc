#include "study/run_study.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <new>
#include <thread>

#include "study/embedded.h"
#include "study/run_unit.h"
#include "study/workers.h"

namespace fathom {

namespace {

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

// Runs in the process of the unit.
UnitOutcome Outcome(const Study& study, const Unit& unit, const std::string& data_folder) {
  try {
    const SplitData data = LoadStudyData(study, data_folder, unit.dataset);
    return RunUnit(data, data.splits[static_cast<std::size_t>(unit.split)], *unit.method->method);
  } catch (const std::bad_alloc&) {
    return {.failure = "there is not enough memory"};
  } catch (const std::exception& error) {
    return {.failure = error.what()};
  }
}

UnitRecord MakeRecord(const std::string& study, const Unit& unit, const JobEnd& end) {
  const auto to_ms = [](double seconds) { return std::round(1000 * seconds) / 1000; };
  UnitRecord record{.study = study,
                    .dataset = unit.dataset,
                    .split = unit.split,
                    .method = unit.method->name,
                    .settings = unit.method->method->Settings(),
                    .cpu_seconds = to_ms(end.cpu_seconds),
                    .wall_seconds = to_ms(end.wall_seconds),
                    .peak_memory = end.peak_memory,
                    .commit = std::string(BuildCommit()),
                    .machine = Machine(),
                    .date = Now()};
  if (end.death.empty()) {
    record.outcome =
        ReadOutcome(end.output).value_or(UnitOutcome{.failure = "its process broke off"});
  } else {
    record.outcome.failure = end.death;
  }
  return record;
}

}  // namespace

void RunUnits(const Study& study, const std::vector<Unit>& units, const RunStudyOptions& options,
              const RunStudyCalls& calls, ResultsFile* results) {
  WorkersOptions workers;
  workers.processes = options.processes > 0
                          ? options.processes
                          : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  workers.cpu_budget = study.budget;
  WorkersCalls jobs;
  jobs.run = [&](std::size_t job) {
    results->Abandon();
    return WriteOutcome(Outcome(study, units[job], options.data));
  };
  jobs.on_start = [&](std::size_t job) { calls.on_start(units[job]); };
  jobs.on_end = [&](std::size_t job, const JobEnd& end) {
    const UnitRecord record = MakeRecord(study.name, units[job], end);
    results->Append(record);
    calls.on_end(units[job], record);
  };
  jobs.wants_to_stop = calls.wants_to_stop;
  RunInProcesses(units.size(), workers, jobs);
}

}  // namespace fathom
