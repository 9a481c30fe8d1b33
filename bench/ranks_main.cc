// What several ranks gain and what they cost, in one run, so that its ratios hold on any machine:
//   mpirun -n 2 fathom_bench_ranks rows=100000 inputs=8 hidden=2 inducing=100 batch=1024 rounds=10
// One line of JSON with the time of a step on rank 0 alone and on all ranks, in turn, and the
// efficiency; then one line per size of a message with the time to add it up over all ranks.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <limits>
#include <vector>

#include "bench/arguments.h"
#include "bench/clock.h"
#include "bench/problem.h"
#include "distributed/mpi.h"

namespace fathom::bench {

namespace {

// Seconds per step of the best round.
class StepTime {
 public:
  explicit StepTime(const AepEnergy& energy, const Problem& problem)
      : energy_(energy), parameters_(Pack(problem.model, energy.packing())) {}

  void Measure(Index steps, Index batch) {
    const double begin = WallSeconds();
    for (Index i = 0; i < steps; ++i) Step(batch);
    best_ = std::min(best_, (WallSeconds() - begin) / static_cast<double>(steps));
  }
  double best() const { return best_; }

 private:
  void Step(Index batch) {
    std::vector<Index> rows(static_cast<std::size_t>(batch));
    for (Index& row : rows) row = next_++ * 7919 % energy_.num_rows();
    double value = 0;
    std::string reason;
    if (!energy_.Evaluate(parameters_, rows, &value, &gradient_, &reason)) ThrowError(reason);
  }

  const AepEnergy& energy_;
  Vector parameters_, gradient_;
  Index next_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
};

void MeasureSteps(const Shape& shape, Index rounds, const Communicator& ranks) {
  const ThreadPool pool(1);
  const Problem problem(shape);
  if (ranks.rank() != 0) {
    AepEnergy(problem.model, ReceiveRows(ranks), {}, pool).Help();
    return;
  }
  const AepEnergy alone(problem.model, problem.x, problem.y, {}, pool);
  const AepEnergy together(problem.model, ShareRows(problem.x, problem.y, {}, ranks), {}, pool);
  StepTime time_alone(alone, problem);
  StepTime time_together(together, problem);
  constexpr Index kSteps = 5;
  for (Index i = 0; i < rounds; ++i) {
    time_alone.Measure(kSteps, shape.batch);
    time_together.Measure(kSteps, shape.batch);
  }
  std::printf(
      "{\"rows\": %ld, \"inputs\": %ld, \"inducing\": %ld, \"batch\": %ld, \"ranks\": %d, "
      "\"alone_ms\": %.3f, \"together_ms\": %.3f, \"efficiency\": %.3f}\n",
      shape.rows, shape.inputs, shape.inducing[0], shape.batch, ranks.size(),
      1e3 * time_alone.best(), 1e3 * time_together.best(),
      time_alone.best() / time_together.best() / ranks.size());
}

void MeasureSums(Index numbers, const Communicator& ranks) {
  constexpr Index kSlots = 8;
  constexpr int kRepeats = 20;
  const ThreadPool pool(1);
  std::vector<Sums> sums(kSlots);
  for (Sums& slot : sums) {
    slot.layout.size = numbers;
    slot.SetZero();
  }
  const Sections sections = EqualSections(numbers, ranks.size());
  TreeMemory memory;
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRepeats; ++i) {
    ranks.Largest(0);  // all begin together
    const double begin = WallSeconds();
    AddInTree(sums, sections, ranks, pool, &memory);
    GatherSections(sections, ranks, &sums[0], &memory);
    best = std::min(best, WallSeconds() - begin);
  }
  if (ranks.rank() == 0)
    std::printf("{\"ranks\": %d, \"bytes\": %ld, \"add_up_us\": %.1f}\n", ranks.size(),
                numbers * static_cast<Index>(sizeof(double)), 1e6 * best);
}

void Run(const Arguments& arguments, const Communicator& ranks) {
  Shape shape;
  shape.rows = arguments.Number("rows", 100000);
  shape.inputs = arguments.Number("inputs", shape.inputs);
  shape.hidden = arguments.List("hidden", shape.hidden);
  shape.inducing = arguments.List("inducing", shape.inducing);
  shape.batch = arguments.Number("batch", shape.batch);
  MeasureSteps(shape, arguments.Number("rounds", 10), ranks);
  for (Index numbers = 1 << 7; numbers <= 1 << 21; numbers *= 8) MeasureSums(numbers, ranks);
}

}  // namespace

}  // namespace fathom::bench

int main(int argc, char** argv) {
  try {
    const fathom::Ranks ranks(3);
    fathom::bench::Run({argc, argv, {"rows", "inputs", "hidden", "inducing", "batch", "rounds"}},
                       ranks.all());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fathom_bench_ranks: %s\n", error.what());
    return 2;
  }
}
