#include "bench/harness.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace fathom::bench {

namespace {

constexpr int kRepetitions = 8;
constexpr double kSecondsPerRepetition = 0.04;

// Google Benchmark carries a case's work to the reporter as counters.
constexpr const char* kExps = "exps";
constexpr const char* kFlops = "flops";
constexpr const char* kBytes = "bytes";
constexpr const char* kCells = "cells";
constexpr const char* kItems = "items";

void RunCase(const std::function<Case()>& make, std::unique_ptr<Case>* made,
             benchmark::State* state) {
  if (!*made) {
    *made = std::make_unique<Case>(make());
    (*made)->call();  // sizes the buffers
  }
  for (auto _ : *state) (*made)->call();
  state->counters[kExps] = (*made)->work.exps;
  state->counters[kFlops] = (*made)->work.flops;
  state->counters[kBytes] = (*made)->work.bytes;
  state->counters[kCells] = (*made)->work.cells;
  state->counters[kItems] = (*made)->items;
}

struct Result {
  std::string name;
  double seconds = 0;
  Work work;
  double items = 0;
};

// Remembers the best repetition of each benchmark and prints all at the end, when the roofline has
// been measured as often as there are benchmarks.
class BestReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override {
    roofline_.Refine();
    return true;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    Result result;
    result.seconds = std::numeric_limits<double>::infinity();
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      if (run.error_occurred) {
        std::fprintf(stderr, "bench: %s: %s\n", run.run_name.function_name.c_str(),
                     run.error_message.c_str());
        failed_ = true;
        return;
      }
      const auto counter = [&](const char* name) { return run.counters.at(name).value; };
      result.name = run.run_name.function_name;
      result.seconds =
          std::min(result.seconds, run.cpu_accumulated_time / static_cast<double>(run.iterations));
      result.work = {counter(kExps), counter(kFlops), counter(kBytes), counter(kCells)};
      result.items = counter(kItems);
    }
    if (result.name.empty()) return;  // mean, median and so on, which come in a call of their own
    results_.push_back(result);
    roofline_.Refine();
  }

  void Finalize() override {
    PrintRate("exp_double", roofline_.exp_seconds, "seconds of one exponential");
    PrintRate("dgemm", 1 / roofline_.dgemm_flops, "seconds of one flop");
    PrintRate("fma", 1 / roofline_.fma_flops, "seconds of one flop");
    PrintRate("memory", 1 / roofline_.bytes_per_second, "seconds of one byte");
    PrintRate("from_chars", roofline_.from_chars_seconds, "seconds of one cell");
    for (const Result& result : results_) {
      const double ideal = roofline_.IdealSeconds(result.work);
      std::printf(
          "{\"name\": \"%s\", \"seconds\": %.6g, \"ratio_to_roofline\": %.4g, \"ideal_seconds\": "
          "%.6g, \"clock\": \"best cpu of %d\"",
          result.name.c_str(), result.seconds, result.seconds / ideal, ideal, kRepetitions);
      if (result.items > 0)
        std::printf(", \"seconds_per_item\": %.5g", result.seconds / result.items);
      const auto products = std::find_if(results_.begin(), results_.end(), [&](const Result& r) {
        return r.name == result.name + "_products";
      });
      if (products != results_.end())
        std::printf(", \"ratio_to_products\": %.4g", result.seconds / products->seconds);
      std::printf("}\n");
    }
  }

  bool failed() const { return failed_ || results_.empty(); }

 private:
  // What the roofline is made of: one by definition.
  void PrintRate(const char* name, double seconds, const char* what) const {
    std::printf(
        "{\"name\": \"roofline_%s\", \"seconds\": %.6g, \"ratio_to_roofline\": 1, \"what\": "
        "\"%s\", "
        "\"target\": \"%s\"}\n",
        name, seconds, what, roofline_.target.c_str());
  }

  Roofline roofline_;
  std::vector<Result> results_;
  bool failed_ = false;
};

}  // namespace

void Register(const std::string& name, std::function<Case()> make) {
  auto made = std::make_shared<std::unique_ptr<Case>>();
  benchmark::RegisterBenchmark(name.c_str(),
                               [make = std::move(make), made](benchmark::State& state) {
                                 RunCase(make, made.get(), &state);
                               })
      ->MinTime(kSecondsPerRepetition)
      ->Repetitions(kRepetitions);
}

}  // namespace fathom::bench

// Options are those of Google Benchmark, above all --benchmark_filter=<regex>.
int main(int argc, char** argv) {
  fathom::bench::RegisterKernelBenchmarks();
  fathom::bench::RegisterModelBenchmarks();
  fathom::bench::RegisterCsvBenchmarks();
  fathom::bench::RegisterBnnBenchmarks();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  fathom::bench::BestReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return reporter.failed() ? 1 : 0;
}
