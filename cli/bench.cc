#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/bench_report.h"
#include "cli/common.h"
#include "cli/methods.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/io/json_text.h"
#include "study/made_data.h"
#include "study/run_study.h"
#include "study/table_json.h"

namespace fathom::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kBenchExample =
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

// Without a folder of data, a study runs on those of its tables that the program makes itself.
void SkipWhatIsRead(const BenchOptions& options, Study* study) {
  std::vector<std::string> made, read;
  for (const std::string& dataset : study->datasets)
    (CanMakeData(dataset) ? made : read).push_back(dataset);
  if (read.empty()) return;
  if (made.empty() || !options.datasets.empty())
    ThrowError("--data is required: dataset ", Quoted(read[0]), " is read from a folder in it");
  Narrow(made, {}, {}, study);
  Complain(std::to_string(read.size()) + " datasets are left out, such as " + Quoted(read[0]) +
           ": they are read from a folder; name it with --data");
}

Study ReadStudy(const BenchOptions& options) {
  Study study = LoadStudy(options.study, MethodKinds());
  Narrow(
      SplitLists(options.datasets), SplitLists(options.methods),
      options.splits.empty() ? std::vector<Index>() : ParseSplitNumbers("--splits", options.splits),
      &study);
  if (options.data.empty()) SkipWhatIsRead(options, &study);
  return study;
}

// Keeps or removes results of methods whose settings have changed, or refuses to go on.
void TreatChanged(const BenchOptions& options, const std::vector<Unit>& units,
                  ResultsFile* results) {
  if (options.if_changed == "keep") return;
  const ChangedSettings changed(units);
  if (options.if_changed == "redo") {
    results->RemoveIf([&](const UnitRecord& record) { return changed.IsChanged(record); });
    return;
  }
  for (const UnitRecord& record : results->records()) {
    if (!changed.IsChanged(record)) continue;
    ThrowError(results->path(), ": holds results of method ", Quoted(record.method),
               " with another setting of ", Quoted(changed.Setting(record)),
               "; give --if-changed keep or redo, or another --out");
  }
}

void Run(const BenchOptions& options, const Study& study, const std::vector<Unit>& units,
         ResultsFile* results) {
  BenchReport report(units, options.json);
  RunStudyCalls calls;
  calls.on_start = [&](const Unit& unit) { report.Start(unit); };
  calls.on_end = [&](const Unit& unit, const UnitRecord& record) { report.End(unit, record); };
  calls.wants_to_stop = [&] {
    const bool stops = Interrupts::Caught() != 0;
    report.Tick(stops);
    return stops;
  };
  RunUnits(study, units,
           {.study = options.study, .data = options.data, .processes = options.threads}, calls,
           AllRanks(), results);
}

std::string EndReport(const BenchOptions& options, const Study& study, std::size_t units,
                      const std::vector<UnitRecord>& records) {
  const Json failures = FailuresJson(records);
  const std::size_t finished = records.size() - failures.size();
  const std::string path = ResultsPath(options.out);
  if (options.json) {
    const Json report = {{"study", study.name},
                         {"results", path},
                         {"units", units},
                         {"done", finished},
                         {"left", units - records.size()},
                         {"failures", failures}};
    return JsonText(report, 2) + "\n";
  }
  return study.name + ": " + std::to_string(finished) + " of " + std::to_string(units) +
         " units are done, " + std::to_string(failures.size()) + " failed; results in " + path +
         "\n";
}

int RunBench(const BenchOptions& options) {
  const Study study = ReadStudy(options);
  const std::vector<Unit> units = ListUnits(study, options.data);
  ResultsFile results(options.out);
  TreatChanged(options, units, &results);
  std::set<UnitKey> wanted;
  for (const Unit& unit : units) wanted.insert(unit.key());
  if (options.retry_failed) {
    results.RemoveIf(
        [&](const UnitRecord& record) { return record.failed() && wanted.contains(record.key()); });
  }
  const Interrupts interrupts;
  Run(options, study, UnitsLeft(units, results.records()), &results);

  std::vector<UnitRecord> records = results.records();
  std::erase_if(records, [&](const UnitRecord& record) { return !wanted.contains(record.key()); });
  WriteOut(EndReport(options, study, units.size(), records));
  if (Interrupts::Caught() != 0) {
    Complain("interrupted; the same command goes on from here");
    return 128 + Interrupts::Caught();
  }
  const bool failed = std::any_of(records.begin(), records.end(),
                                  [](const UnitRecord& record) { return record.failed(); });
  return failed ? kNumerical : kGood;
}

}  // namespace

Command AddBench(CLI::App* program) {
  CLI::App* app = program->add_subcommand("bench", "Run a study: methods on splits of datasets");
  app->footer(kBenchExample);
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
  app->add_option(
         "--threads", options->threads,
         "Units that run at a time on each rank, on one thread each; 0 means as many as cores")
      ->check(InRange(0, 1024))
      ->type_name("N")
      ->capture_default_str();
  app->add_flag("--json", options->json,
                "Print what is done and what failed as one JSON object, at the end");
  return {app, [options] { return RunBench(*options); }};
}

}  // namespace fathom::cli
