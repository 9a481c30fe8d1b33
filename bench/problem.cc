#include "bench/problem.h"

#include <algorithm>
#include <span>
#include <string>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "fathom/model/initialize.h"

namespace fathom::bench {

namespace {

// Much smaller than in earnest: the parameters stay where they are, however long the run.
constexpr double kRate = 1e-9;

}  // namespace

Problem::Problem(const Shape& shape) {
  RandomStream stream(1);
  x = Moments::Certain(stream.NormalMatrix(shape.rows, shape.inputs));
  y = stream.NormalMatrix(shape.rows, 1);
  Architecture architecture;
  architecture.hidden = shape.hidden;
  architecture.inducing = shape.inducing;
  model = Initialize(architecture, {}, 1, x.mean, 1);
}

Trainer::Trainer(const Problem& problem, const Shape& shape, const ThreadPool& pool)
    : energy_(problem.model, problem.x, problem.y, {.precision = shape.precision}, pool),
      batch_(std::min(shape.batch, problem.x.rows())),
      order_(RandomStream(2).Permutation(problem.x.rows())),
      parameters_(Pack(problem.model, energy_.packing())),
      adam_(parameters_.size()) {}

void Trainer::Step() {
  const std::span<const Index> batch(order_.data() + next_, static_cast<std::size_t>(batch_));
  double value = 0;
  std::string reason;
  if (!energy_.Evaluate(parameters_, batch, &value, &gradient_, &reason))
    ThrowError("a step of the benchmark failed: ", reason);
  AdamStep({}, kRate, gradient_, &adam_, &parameters_);
  next_ += batch_;
  if (next_ + batch_ > static_cast<Index>(order_.size())) next_ = 0;
}

PrepareAll::PrepareAll(const DeepGp& model) : model_(model), gradient_(model.ZeroLike()) {
  for (const GpLayer& layer : model.layers) prepared_.emplace_back(layer.gps.size());
}

void PrepareAll::Run() {
  const Cavity cavity{0.5, 10'000};
  for (std::size_t l = 0; l < prepared_.size(); ++l) {
    for (std::size_t d = 0; d < prepared_[l].size(); ++d) {
      const SparseGp& gp = model_.layers[l].gps[d];
      PreparedGp& prepared = prepared_[l][d];
      SparseGp& d_gp = gradient_.layers[l].gps[d];
      Prepare(gp, cavity, model_.jitter, &prepared);
      d_gp.SetZero();
      prepared.d_cavity.SetZero(gp.num_inducing());
      PrepareBackward(gp, cavity, &prepared, &d_gp);
    }
  }
}

}  // namespace fathom::bench
