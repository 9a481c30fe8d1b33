#include "fathom/fit/alternate.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "fathom/inference/ep.h"
#include "fathom/inference/sep.h"

namespace fathom {

namespace {

// The rows of the n-th update: all, or a random batch.
std::vector<Index> RowsOf(Index rows, Index batch, std::uint64_t seed, Index n) {
  // Apart from the streams of the start, which count from 0, and of the optimiser, from 2^32.
  constexpr std::uint64_t kStreams = std::uint64_t{1} << 48;
  if (batch < rows) {
    std::vector<Index> order =
        RandomStream(seed, kStreams + static_cast<std::uint64_t>(n)).Permutation(rows);
    order.resize(static_cast<std::size_t>(batch));
    return order;
  }
  std::vector<Index> all(static_cast<std::size_t>(rows));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

std::unique_ptr<FactorInference> MakeInference(const DeepGp& start, const Moments& x,
                                               const Matrix& y, const Recipe& recipe,
                                               const ThreadPool& pool) {
  const FactorOptions options{.alpha = recipe.alpha, .noise_floor = recipe.noise_floor};
  if (recipe.inference == Inference::kEp) return std::make_unique<Ep>(start, x, y, options, pool);
  FATHOM_CHECK(recipe.inference == Inference::kSep);
  return std::make_unique<Sep>(start, x, y, options, pool);
}

}  // namespace

Alternated Alternate(const DeepGp& start, const Moments& x, const Matrix& y, const Recipe& recipe,
                     double seconds_before, const ProgressCallback& callback) {
  // Enough for a damped update to forget its start, at most so many; a whitened posterior mean has
  // prior variance 1.
  constexpr Index kMostUpdates = 20;
  constexpr double kSettled = 1e-3;
  const ThreadPool pool(recipe.threads);
  const auto inference = MakeInference(start, x, y, recipe, pool);
  MinimizeOptions optimizer = recipe.optimizer;
  if (recipe.inference == Inference::kEp) optimizer.batch_size = x.rows();
  const Index batch = std::min(optimizer.batch_size, x.rows());
  MinimizeState state(Pack(start, inference->packing()));
  state.seconds = seconds_before;

  Index updates = 0;
  const auto update = [&] {
    return inference->Update(state.parameters, RowsOf(x.rows(), batch, recipe.seed, updates++));
  };
  while (updates < kMostUpdates && update() > kSettled) {
  }
  const auto after_step = [&](const Progress& progress, const MinimizeState& now) {
    try {
      update();
    } catch (const NumericalError&) {
      // Where the factors cannot be updated, the energy cannot be computed either: the optimiser
      // notices in its next step and goes back.
    }
    return !callback || callback(progress, now);
  };
  Alternated out;
  out.run = Minimize(*inference, optimizer, after_step, &state);
  if (out.run.reason == StopReason::kNumericalFailure && out.run.steps == 0)
    throw NumericalError(out.run.message);
  const bool in_time =
      out.run.reason != StopReason::kTimeBudget && out.run.reason != StopReason::kInterrupted;
  for (Index i = 0; in_time && i < kMostUpdates && update() > kSettled; ++i) {
  }
  out.network = inference->Posterior(state.parameters);
  out.energy = inference->Energy(state.parameters, nullptr);
  return out;
}

}  // namespace fathom
