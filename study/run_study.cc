#include "study/run_study.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <new>
#include <nlohmann/json.hpp>
#include <thread>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/distributed/orders.h"
#include "fathom/io/json_text.h"
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

// A unit as a text, for the rank that runs it.
std::string JobOf(const Unit& unit) {
  return JsonText(nlohmann::json{unit.dataset, unit.split, unit.method->name});
}

const StudyMethod& MethodOf(const Study& study, const std::string& name,
                            const std::string& dataset) {
  for (const StudyMethod& method : study.methods) {
    if (method.name == name && std::ranges::count(method.datasets, dataset) > 0) return method;
  }
  ThrowError("study ", Quoted(study.name), ": has no method ", Quoted(name), " for ",
             Quoted(dataset), " here; give all ranks the same file");
}

// Runs in the process of the unit.
UnitOutcome Outcome(const Study& study, const std::string& job, const std::string& data_folder) {
  try {
    const auto text = ParseJson("a job", job);
    const std::string dataset = text[0];
    const SplitData data = LoadStudyData(study, data_folder, dataset);
    return RunUnit(data, data.splits[text[1].get<std::size_t>()],
                   *MethodOf(study, text[2], dataset).method);
  } catch (const std::bad_alloc&) {
    return {.failure = "there is not enough memory"};
  } catch (const std::exception& error) {
    return {.failure = error.what()};
  }
}

WorkersOptions WorkersFor(const Study& study, int processes) {
  const auto cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return {.processes = processes > 0 ? processes : cores,
          .cpu_budget = study.budget,
          .machine = Machine()};
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
                    .machine = end.machine,
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
              const RunStudyCalls& calls, const Communicator& ranks, ResultsFile* results) {
  GiveOrder(Order::kStudy, ranks);
  std::string order = JsonText(nlohmann::json{options.study, options.data, options.processes});
  ranks.Broadcast(&order);
  std::vector<std::string> jobs;
  for (const Unit& unit : units) jobs.push_back(JobOf(unit));
  WorkersCalls workers;
  workers.run = [&](const std::string& job) {
    results->Abandon();
    return WriteOutcome(Outcome(study, job, options.data));
  };
  workers.on_start = [&](std::size_t job) { calls.on_start(units[job]); };
  workers.on_end = [&](std::size_t job, const JobEnd& end) {
    const UnitRecord record = MakeRecord(study.name, units[job], end);
    results->Append(record);
    calls.on_end(units[job], record);
  };
  workers.wants_to_stop = calls.wants_to_stop;
  RunInProcesses(jobs, WorkersFor(study, options.processes), workers, ranks);
}

void HelpUnits(const std::vector<MethodKind>& kinds, const Communicator& ranks) {
  std::string order;
  ranks.Broadcast(&order);
  const auto text = ParseJson("an order", order);
  const Study study = LoadStudy(text[0], kinds);
  const std::string data = text[1];
  HelpInProcesses(
      WorkersFor(study, text[2]),
      [&](const std::string& job) { return WriteOutcome(Outcome(study, job, data)); }, ranks);
}

}  // namespace fathom
