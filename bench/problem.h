// Tables and models of a given shape, and training steps on them. The numbers are random: the time
// of a step does not depend on them.
#ifndef FATHOM_BENCH_PROBLEM_H_
#define FATHOM_BENCH_PROBLEM_H_

#include <vector>

#include "fathom/base/threads.h"
#include "fathom/inference/aep_energy.h"
#include "fathom/optimize/adam.h"

namespace fathom::bench {

struct Shape {
  Index rows = 7373;
  Index inputs = 8;
  std::vector<Index> hidden = {2};
  std::vector<Index> inducing = {100};  // per layer; the last entry holds for all above
  Index batch = 1024;
  Precision precision = Precision::kDouble;
};

struct Problem {
  explicit Problem(const Shape& shape);
  Moments x;
  Matrix y;
  DeepGp model;
};

// Training as `fathom fit` does it: minibatches in random order, energy, gradient, Adam.
class Trainer {
 public:
  Trainer(const Problem& problem, const Shape& shape, const ThreadPool& pool);
  void Step();
  // Steps until the next begin of an epoch; a last batch of fewer rows is left out.
  Index steps_per_epoch() const { return static_cast<Index>(order_.size()) / batch_; }

 private:
  AepEnergy energy_;
  Index batch_;
  std::vector<Index> order_;
  Index next_ = 0;
  Vector parameters_, gradient_;
  AdamState adam_;
};

// Prepare and PrepareBackward of every sparse GP of a model: the part of a step whose time does not
// depend on the rows.
class PrepareAll {
 public:
  explicit PrepareAll(const DeepGp& model);
  void Run();

 private:
  const DeepGp& model_;
  DeepGp gradient_;
  std::vector<std::vector<PreparedGp>> prepared_;
};

}  // namespace fathom::bench

#endif  // FATHOM_BENCH_PROBLEM_H_
