#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "cli/common.h"
#include "cli/embedded.h"
#include "cli/progress.h"
#include "cli/study.h"
#include "cli/workers.h"
#include "fathom/base/error.h"
#include "fathom/base/stopwatch.h"
#include "fathom/data/text.h"
#include "fathom/experiment/made_data.h"
#include "fathom/experiment/results_file.h"
#include "fathom/experiment/run_unit.h"

namespace fathom::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kExample =
    "Examples:\n"
    "  fathom bench quick --data DIR --out results/quick\n"
    "  fathom bench uci --data DIR --out results/uci --datasets boston,yacht --splits 0-4\n"
    "  fathom bench mine.toml --data DIR --out results/mine\n\n"
    "Runs every method of the study on every split of every dataset, one process and one thread "
    "each, and adds a JSON\nline with scores, settings, time and memory to OUT/results.jsonl for "
    "each that is finished. Started again, it does\nwhat is left, however it ended. Ctrl-C waits "
    "for what is running; a second one does not. 'fathom tables OUT'\nmakes tables and figures of "
    "the results. Studies are described in docs/experiments.md.";

struct BenchOptions {
  std::string study, data, out, splits;
  std::vector<std::string> datasets, methods;
  std::string if_changed = "refuse";
  bool retry_failed = false;
  int threads = 0;
};

struct Unit {
  std::string dataset;
  Index split = 0;
  const StudyMethod* method = nullptr;
  double work = 0;

  UnitKey Key() const { return {dataset, split, method->name}; }
};

SplitData Load(const BenchOptions& options, const Study& study, const std::string& dataset) {
  if (options.data.empty() && !CanMakeData(dataset))
    ThrowError("--data is required: dataset ", Quoted(dataset), " is read from a folder in it");
  try {
    return LoadSplitData(options.data, dataset, study.data);
  } catch (const Error& error) {
    if (study.source.empty()) throw;
    ThrowError(error.what(), "; ", study.source);
  }
}

// Reads every dataset once, so that what is wrong with one is told before hours of work. Splits come
// in turn, so that a study that is cut has all datasets; within a split the longest unit is first.
std::vector<Unit> ListUnits(const BenchOptions& options, const Study& study) {
  std::vector<Unit> units;
  for (const std::string& dataset : study.datasets) {
    const SplitData data = Load(options, study, dataset);
    const auto splits = static_cast<Index>(data.splits.size());
    for (const StudyMethod& method : study.methods) {
      if (std::count(method.datasets.begin(), method.datasets.end(), dataset) == 0) continue;
      for (Index split = 0; split < splits; ++split) {
        const bool wanted = method.splits.empty() ||
                            std::count(method.splits.begin(), method.splits.end(), split) > 0;
        if (!wanted) continue;
        const auto rows =
            static_cast<Index>(data.splits[static_cast<std::size_t>(split)].train.size());
        const double work = method.method->Work(rows, data.table.values.cols() - 1);
        units.push_back({dataset, split, &method, work});
      }
    }
  }
  if (units.empty()) ThrowError("nothing is left to run; name other datasets, methods or splits");
  std::stable_sort(units.begin(), units.end(), [](const Unit& a, const Unit& b) {
    return a.split != b.split ? a.split < b.split : a.work > b.work;
  });
  return units;
}

// The dotted name of the first field in which two settings differ.
std::string FirstDifference(const nlohmann::json& a, const nlohmann::json& b) {
  const nlohmann::json difference = nlohmann::json::diff(a, b);
  return difference.empty() ? "" : difference[0]["path"].get<std::string>().substr(1);
}

// Results of the same name with other settings must not be mixed with new ones unless asked for.
void CheckSettings(const BenchOptions& options, const std::vector<Unit>& units,
                   ResultsFile* results) {
  if (options.if_changed == "keep") return;
  std::map<UnitKey, nlohmann::json> settings;
  for (const Unit& unit : units) settings[unit.Key()] = unit.method->method->Settings();
  const auto changed = [&](const Json& line) {
    const auto found = settings.find(KeyOf(line));
    return found != settings.end() && nlohmann::json(line["settings"]) != found->second;
  };
  if (options.if_changed == "redo") return results->RemoveIf(changed);
  for (const Json& line : results->lines()) {
    if (!changed(line)) continue;
    ThrowError(results->path(), ": holds results of method ",
               Quoted(line["method"].get<std::string>()), " with another setting of ",
               Quoted(FirstDifference(line["settings"], settings[KeyOf(line)])),
               "; give --if-changed keep or redo, or another --out");
  }
}

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

// What runs in the process of a unit.
Json Outcome(const BenchOptions& options, const Study& study, const Unit& unit) {
  try {
    const SplitData data = Load(options, study, unit.dataset);
    return RunUnit(data, data.splits[static_cast<std::size_t>(unit.split)], *unit.method->method);
  } catch (const std::bad_alloc&) {
    return {{"failure", "there is not enough memory"}};
  } catch (const std::exception& error) {
    return {{"failure", error.what()}};
  }
}

Json ResultLine(const Study& study, const Unit& unit, const JobEnd& end) {
  Json line = {{"study", study.name},
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

std::string HumanLine(const Json& line) {
  char buffer[300];
  std::snprintf(buffer, sizeof(buffer), "%-12s split %2ld  %-12s ",
                line["dataset"].get<std::string>().c_str(), line["split"].get<long>(),
                line["method"].get<std::string>().c_str());
  std::string text = buffer;
  if (IsFailure(line)) return text + " FAILED: " + line["failure"].get<std::string>() + "\n";
  const Json& scores = line["scores"];
  const bool classes = scores.contains("accuracy");
  std::snprintf(buffer, sizeof(buffer), "log likelihood %9.4f  %s %9.4g  %7.1f s  %6.0f MB\n",
                scores["log_likelihood"].get<double>(), classes ? "accuracy" : "RMSE",
                scores[classes ? "accuracy" : "rmse"].get<double>(),
                line["cpu_seconds"].get<double>(), line["peak_memory"].get<double>() / 1e6);
  return text + buffer;
}

// A line per unit, or on a terminal one that changes.
class Reporter {
 public:
  explicit Reporter(const std::vector<Unit>& units) {
    for (const Unit& unit : units) work_left_ += unit.work;
    left_ = units.size();
    total_work_ = work_left_;
  }

  void Start(const Unit& unit) { newest_ = unit.dataset + " " + unit.method->name; }
  void End(const Unit& unit, const Json& line) {
    --left_;
    work_left_ -= unit.work;
    failed_ += IsFailure(line);
    if (!bar_.on_terminal()) WriteOut(HumanLine(line));
  }
  // Asks for nothing but a look at the clock, so it may be called often.
  void Tick(bool stops) {
    const double done = left_ == 0 ? 1 : 1 - work_left_ / total_work_;
    const std::string time_left =
        done > 0 ? TimeText(watch_.Seconds() * (1 - done) / done) + " left, " : "";
    bar_.Show(BarText(done) + "  " + std::to_string(left_) + " units to go, " + time_left +
              std::to_string(failed_) + " failed, " +
              (stops ? "waiting for what runs" : "newest: " + newest_));
  }

 private:
  ProgressBar bar_;
  Stopwatch watch_;
  std::size_t left_ = 0, failed_ = 0;
  double work_left_ = 0, total_work_ = 0;
  std::string newest_;
};

void RunUnits(const BenchOptions& options, const Study& study, const std::vector<Unit>& units,
              ResultsFile* results) {
  Reporter reporter(units);
  WorkersOptions workers;
  workers.processes = options.threads > 0
                          ? options.threads
                          : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  workers.cpu_budget = study.budget;
  WorkersCalls calls;
  calls.run = [&](std::size_t job) {
    results->Abandon();
    return Outcome(options, study, units[job]).dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  calls.on_start = [&](std::size_t job) { reporter.Start(units[job]); };
  calls.on_end = [&](std::size_t job, const JobEnd& end) {
    const Json line = ResultLine(study, units[job], end);
    results->Append(line);
    reporter.End(units[job], line);
  };
  calls.wants_to_stop = [&] {
    const bool stops = Interrupts::Caught() != 0;
    reporter.Tick(stops);
    return stops;
  };
  RunInProcesses(units.size(), workers, calls);
}

int RunBench(const BenchOptions& options) {
  Study study = LoadStudy(options.study);
  Narrow(
      SplitLists(options.datasets), SplitLists(options.methods),
      options.splits.empty() ? std::vector<Index>() : ParseSplitNumbers("--splits", options.splits),
      &study);
  const std::vector<Unit> units = ListUnits(options, study);
  ResultsFile results(options.out);
  CheckSettings(options, units, &results);
  std::set<UnitKey> wanted;
  for (const Unit& unit : units) wanted.insert(unit.Key());
  if (options.retry_failed) {
    results.RemoveIf(
        [&](const Json& line) { return IsFailure(line) && wanted.contains(KeyOf(line)); });
  }
  std::set<UnitKey> done;
  for (const Json& line : results.lines()) done.insert(KeyOf(line));
  std::vector<Unit> left;
  std::copy_if(units.begin(), units.end(), std::back_inserter(left),
               [&](const Unit& unit) { return !done.contains(unit.Key()); });

  const Interrupts interrupts;
  RunUnits(options, study, left, &results);
  std::size_t finished = 0;
  std::size_t failed = 0;
  for (const Json& line : results.lines()) {
    if (!wanted.contains(KeyOf(line))) continue;
    (IsFailure(line) ? failed : finished) += 1;
  }
  WriteOut(study.name + ": " + std::to_string(finished) + " of " + std::to_string(units.size()) +
           " units are done, " + std::to_string(failed) + " failed; results in " + results.path() +
           "\n");
  if (Interrupts::Caught() != 0) {
    Complain("interrupted; the same command goes on from here");
    return 128 + Interrupts::Caught();
  }
  return failed > 0 ? kNumerical : kGood;
}

}  // namespace

Command AddBench(CLI::App* program) {
  CLI::App* app = program->add_subcommand("bench", "Run a study: methods on splits of datasets");
  app->footer(kExample);
  const auto options = std::make_shared<BenchOptions>();
  app->add_option("STUDY", options->study, "Name of a study, or a file that describes one")
      ->required()
      ->type_name("");
  app->add_option("--data", options->data, "Folder that holds a folder for each dataset")
      ->type_name("DIR");
  app->add_option("--out", options->out, "Folder for the results; made if need be")
      ->required()
      ->type_name("DIR");
  const auto add_list = [app](const char* name, std::vector<std::string>* list, const char* what) {
    app->add_option(name, *list, what)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false)
        ->type_name("NAME");
  };
  add_list("--datasets", &options->datasets, "Only these; repeat it or give a,b");
  add_list("--methods", &options->methods, "Only these; repeat it or give a,b");
  app->add_option("--splits", options->splits, "Only these: 0-4 or 0,3")->type_name("N-N");
  app->add_flag("--retry-failed", options->retry_failed, "Run again what is recorded as a failure");
  app->add_option("--if-changed", options->if_changed,
                  "What to do with results of a method whose settings are others now: keep them, "
                  "redo them, or refuse to go on")
      ->check(OneOf({"refuse", "keep", "redo"}))
      ->type_name("refuse|keep|redo")
      ->capture_default_str();
  app->add_option("--threads", options->threads,
                  "Units that run at a time, on one thread each; 0 means as many as cores")
      ->check(InRange(0, 1024))
      ->type_name("N")
      ->capture_default_str();
  return {app, [options] { return RunBench(*options); }};
}

}  // namespace fathom::cli
