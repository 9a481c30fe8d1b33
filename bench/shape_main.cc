// Trains a model of one shape for some epochs in a process of its own, so that its peak memory is
// that of the shape, and prints one line of JSON.
//   fathom_bench_shape rows=7373 inputs=8 hidden=2,2 inducing=100 batch=1024 mixed=0 seconds=3
// `seconds`: whole epochs are repeated for about that long, at least one; the best is taken. The
// clock is wall time, since that is what threads are for; cpu_seconds_per_epoch is of all threads.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <limits>

#include "bench/arguments.h"
#include "bench/clock.h"
#include "bench/problem.h"
#include "bench/work.h"

namespace fathom::bench {

namespace {

Shape ShapeFrom(const Arguments& arguments) {
  Shape shape;
  shape.rows = arguments.Number("rows", shape.rows);
  shape.inputs = arguments.Number("inputs", shape.inputs);
  shape.hidden = arguments.List("hidden", shape.hidden);
  shape.inducing = arguments.List("inducing", shape.inducing);
  shape.batch = arguments.Number("batch", shape.batch);
  if (arguments.Number("mixed", 0) != 0) shape.precision = Precision::kMixed;
  return shape;
}

void Run(const Arguments& arguments) {
  const Shape shape = ShapeFrom(arguments);
  const Index threads = arguments.Number("threads", 1);
  const Index seconds = arguments.Number("seconds", 3);
  const Index max_steps = arguments.Number("max_steps", 0);  // of what counts as an epoch; 0: all
  const double base_bytes = PeakBytes();                     // code and libraries
  const ThreadPool pool(static_cast<int>(threads));
  const Problem problem(shape);
  Trainer trainer(problem, shape, pool);
  const Index batch = std::min(shape.batch, shape.rows);
  Index steps = trainer.steps_per_epoch();
  if (max_steps > 0) steps = std::min(steps, max_steps);
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
  } while (WallSeconds() - begin < static_cast<double>(seconds));
  const double peak_bytes = PeakBytes();  // before the roofline, which needs memory of its own

  PrepareAll prepare(problem.model);
  prepare.Run();
  const double prepare_seconds = BestCpuSeconds(10, [&] { prepare.Run(); });
  Roofline roofline;
  for (int i = 0; i < 5; ++i) roofline.Refine();

  // On t threads the limit is a t-th of that of one.
  const double step_wall = wall / static_cast<double>(steps);
  const double step_cpu = cpu / static_cast<double>(steps);
  const double step = threads == 1 ? step_cpu : step_wall;
  const double ideal =
      roofline.IdealSeconds(StepWork(problem.model, batch)) / static_cast<double>(threads);
  const double steps_per_table = static_cast<double>(shape.rows) / static_cast<double>(batch);
  const double pairs = PairsOfUpperLayers(problem.model);
  const double table_bytes = 8.0 * static_cast<double>(shape.rows * (shape.inputs + 1));
  std::printf(
      "{\"threads\": %d, \"epochs\": %d, \"steps\": %ld, \"step_seconds\": %.6g, "
      "\"step_wall_seconds\": %.6g, \"epoch_seconds\": %.6g, \"row_seconds\": %.6g, "
      "\"row_pair_seconds\": %.6g, \"ideal_step_seconds\": %.6g, \"ratio_to_roofline\": %.4g, "
      "\"prepare_seconds\": %.6g, \"peak_bytes\": %.0f, \"base_bytes\": %.0f, \"table_bytes\": "
      "%.0f}\n",
      static_cast<int>(threads), epochs, static_cast<long>(steps), step, step_wall,
      step * steps_per_table, step / static_cast<double>(batch),
      pairs > 0 ? step / (static_cast<double>(batch) * pairs) : 0.0, ideal, step / ideal,
      prepare_seconds, peak_bytes, base_bytes, table_bytes);
}

}  // namespace

}  // namespace fathom::bench

int main(int argc, char** argv) {
  try {
    fathom::bench::Run({argc,
                        argv,
                        {"rows", "inputs", "hidden", "inducing", "batch", "mixed", "threads",
                         "seconds", "max_steps"}});
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fathom_bench_shape: %s\n", error.what());
    return 2;
  }
}
