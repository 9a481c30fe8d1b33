#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "cli/bench_report.h"
#include "cli/bench_units.h"
#include "cli/common.h"
#include "cli/progress.h"
#include "cli/study.h"
#include "cli/workers.h"
#include "study/run_unit.h"
#include "study/table_json.h"

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
    "the results. Studies are described in docs/how-to/studies.md.";

struct BenchOptions {
  std::string study, data, out, splits;
  std::vector<std::string> datasets, methods;
  std::string if_changed = "refuse";
  bool retry_failed = false, json = false;
  int threads = 0;
};

// What runs in the process of a unit.
UnitOutcome Outcome(const BenchOptions& options, const Study& study, const Unit& unit) {
  try {
    const SplitData data = LoadStudyData(study, options.data, unit.dataset);
    return RunUnit(data, data.splits[static_cast<std::size_t>(unit.split)], *unit.method->method);
  } catch (const std::bad_alloc&) {
    return {.failure = "there is not enough memory"};
  } catch (const std::exception& error) {
    return {.failure = error.what()};
  }
}

void RunUnits(const BenchOptions& options, const Study& study, const std::vector<Unit>& units,
              ResultsFile* results) {
  BenchReport report(units, options.json);
  WorkersOptions workers;
  workers.processes = options.threads > 0
                          ? options.threads
                          : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  workers.cpu_budget = study.budget;
  WorkersCalls calls;
  calls.run = [&](std::size_t job) {
    results->Abandon();
    return WriteOutcome(Outcome(options, study, units[job]));
  };
  calls.on_start = [&](std::size_t job) { report.Start(units[job]); };
  calls.on_end = [&](std::size_t job, const JobEnd& end) {
    const UnitRecord record = MakeRecord(study.name, units[job], end);
    results->Append(record);
    report.End(units[job], record);
  };
  calls.wants_to_stop = [&] {
    const bool stops = Interrupts::Caught() != 0;
    report.Tick(stops);
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
  const std::vector<Unit> units = ListUnits(study, options.data);
  ResultsFile results(options.out);
  CheckSettings(units,
                options.if_changed == "keep"   ? IfChanged::kKeep
                : options.if_changed == "redo" ? IfChanged::kRedo
                                               : IfChanged::kRefuse,
                &results);
  std::set<UnitKey> wanted;
  for (const Unit& unit : units) wanted.insert(unit.Key());
  if (options.retry_failed) {
    results.RemoveIf(
        [&](const UnitRecord& record) { return record.failed() && wanted.contains(record.key()); });
  }
  std::set<UnitKey> done;
  for (const UnitRecord& record : results.records()) done.insert(record.key());
  std::vector<Unit> left;
  std::copy_if(units.begin(), units.end(), std::back_inserter(left),
               [&](const Unit& unit) { return !done.contains(unit.Key()); });

  const Interrupts interrupts;
  RunUnits(options, study, left, &results);
  std::size_t finished = 0;
  Json failures = Json::array();
  for (const UnitRecord& record : results.records()) {
    if (!wanted.contains(record.key())) continue;
    if (record.failed()) {
      failures.push_back(FailureJson(record));
    } else {
      ++finished;
    }
  }
  if (options.json) {
    const Json report = {{"study", study.name},
                         {"results", results.path()},
                         {"units", units.size()},
                         {"done", finished},
                         {"left", units.size() - finished - failures.size()},
                         {"failures", failures}};
    WriteOut(report.dump(2) + "\n");
  } else {
    WriteOut(study.name + ": " + std::to_string(finished) + " of " + std::to_string(units.size()) +
             " units are done, " + std::to_string(failures.size()) + " failed; results in " +
             results.path() + "\n");
  }
  if (Interrupts::Caught() != 0) {
    Complain("interrupted; the same command goes on from here");
    return 128 + Interrupts::Caught();
  }
  return failures.empty() ? kGood : kNumerical;
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
  app->add_flag("--json", options->json,
                "Print what is done and what failed as one JSON object, at the end");
  return {app, [options] { return RunBench(*options); }};
}

}  // namespace fathom::cli
