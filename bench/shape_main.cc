// Trains a model of one shape for some epochs in a process of its own, so that its peak memory is
// that of the shape, and prints one line of JSON.
//   fathom_bench_shape rows=7373 inputs=8 hidden=2,2 inducing=100 batch=1024 mixed=0 threads=1 seconds=3
// `seconds`: whole epochs are repeated for about that long, at least one; the best is taken. The
// clock is wall time, since that is what threads are for; cpu_seconds_per_epoch is of all threads.
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "bench/clock.h"
#include "bench/problem.h"
#include "bench/work.h"
#include "fathom/base/error.h"

namespace fathom::bench {

namespace {

struct Arguments {
  Shape shape;
  Index threads = 1;
  Index seconds = 3;
  Index max_steps = 0;  // of what counts as an epoch; 0: all
};

std::vector<Index> ParseList(std::string_view text) {
  std::vector<Index> list;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    Index value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value < 0 || (next < end && *next != ','))
      ThrowError("'", text, "' is not a list of whole numbers such as 2,2");
    list.push_back(value);
    at = next + 1;
  }
  return list;
}

Arguments Parse(int argc, char** argv) {
  Arguments out;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const std::size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    const std::vector<Index> values = equals == std::string_view::npos
                                          ? std::vector<Index>()
                                          : ParseList(argument.substr(equals + 1));
    if (name == "hidden") {
      out.shape.hidden = values;
      continue;
    }
    if (values.empty()) ThrowError("'", argument, "' should be name=number");
    if (name == "inducing") {
      out.shape.inducing = values;
    } else if (name == "rows") {
      out.shape.rows = values[0];
    } else if (name == "inputs") {
      out.shape.inputs = values[0];
    } else if (name == "batch") {
      out.shape.batch = values[0];
    } else if (name == "mixed") {
      out.shape.precision = values[0] != 0 ? Precision::kMixed : Precision::kDouble;
    } else if (name == "threads") {
      out.threads = values[0];
    } else if (name == "seconds") {
      out.seconds = values[0];
    } else if (name == "max_steps") {
      out.max_steps = values[0];
    } else {
      ThrowError(
          "unknown name '", name,
          "'; use rows, inputs, hidden, inducing, batch, mixed, threads, seconds or max_steps");
    }
  }
  return out;
}

double PeakBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

void Run(const Arguments& arguments) {
  const Shape& shape = arguments.shape;
  const double base_bytes = PeakBytes();  // code and libraries
  const ThreadPool pool(static_cast<int>(arguments.threads));
  const Problem problem(shape);
  Trainer trainer(problem, shape, pool);
  const Index batch = std::min(shape.batch, shape.rows);
  Index steps = trainer.steps_per_epoch();
  if (arguments.max_steps > 0) steps = std::min(steps, arguments.max_steps);
  trainer.Step();
  double wall = std::numeric_limits<double>::infinity();
  double cpu = wall;
  const double begin = WallSeconds();
  int epochs = 0;
  do {
    const double wall_begin = WallSeconds();
    const double cpu_begin = SecondsOf(CLOCK_PROCESS_CPUTIME_ID);
    for (Index i = 0; i < steps; ++i) trainer.Step();
    wall = std::min(wall, WallSeconds() - wall_begin);
    cpu = std::min(cpu, SecondsOf(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin);
    ++epochs;
  } while (WallSeconds() - begin < static_cast<double>(arguments.seconds));
  const double peak_bytes = PeakBytes();  // before the roofline, which needs memory of its own

  PrepareAll prepare(problem.model);
  prepare.Run();
  const double prepare_seconds = BestCpuSeconds(10, [&] { prepare.Run(); });
  Roofline roofline;
  for (int i = 0; i < 5; ++i) roofline.Refine();

  // On t threads the limit is a t-th of that of one.
  const double step_wall = wall / static_cast<double>(steps);
  const double step_cpu = cpu / static_cast<double>(steps);
  const double step = arguments.threads == 1 ? step_cpu : step_wall;
  const double ideal = roofline.IdealSeconds(StepWork(problem.model, batch)) /
                       static_cast<double>(arguments.threads);
  const double steps_per_table = static_cast<double>(shape.rows) / static_cast<double>(batch);
  const double pairs = PairsOfUpperLayers(problem.model);
  const double table_bytes = 8.0 * static_cast<double>(shape.rows * (shape.inputs + 1));
  std::printf(
      "{\"threads\": %d, \"epochs\": %d, \"steps\": %ld, \"step_seconds\": %.6g, "
      "\"step_wall_seconds\": %.6g, \"epoch_seconds\": %.6g, \"row_seconds\": %.6g, "
      "\"row_pair_seconds\": %.6g, \"ideal_step_seconds\": %.6g, \"ratio_to_roofline\": %.4g, "
      "\"prepare_seconds\": %.6g, \"peak_bytes\": %.0f, \"base_bytes\": %.0f, \"table_bytes\": "
      "%.0f}\n",
      static_cast<int>(arguments.threads), epochs, static_cast<long>(steps), step, step_wall,
      step * steps_per_table, step / static_cast<double>(batch),
      pairs > 0 ? step / (static_cast<double>(batch) * pairs) : 0.0, ideal, step / ideal,
      prepare_seconds, peak_bytes, base_bytes, table_bytes);
}

}  // namespace

}  // namespace fathom::bench

int main(int argc, char** argv) {
  try {
    fathom::bench::Run(fathom::bench::Parse(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fathom_bench_shape: %s\n", error.what());
    return 2;
  }
}
