#include "fathom/train/engine.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "fathom/inference/aep_energy.h"
#include "fathom/inference/ep.h"
#include "fathom/inference/sep.h"
#include "fathom/train/lengthscale_prior.h"

namespace fathom {

namespace {

// Rows from which the energy at the end is computed.
std::vector<Index> ClosingRows(Index rows, Index most, std::uint64_t seed) {
  std::vector<Index> chosen(std::min(rows, most));
  if (rows <= most) {
    std::iota(chosen.begin(), chosen.end(), Index{0});
  } else {
    RandomStream stream(seed, UINT64_MAX);  // a stream of its own: the epochs' count from 0
    for (Index& row : chosen) row = stream.Below(rows);
  }
  return chosen;
}

AepOptions EnergyOptions(const Recipe& recipe) {
  return {.alpha = recipe.alpha,
          .noise_floor = recipe.noise_floor,
          .mixture = recipe.mixture,
          .seed = recipe.seed,
          .precision = recipe.precision};
}

class AepEngine : public Engine {
 public:
  AepEngine(const DeepGp& start, std::unique_ptr<const RowSource> rows, const Recipe& recipe,
            const ThreadPool& pool)
      : seed_(recipe.seed),
        energy_(start, std::move(rows), EnergyOptions(recipe), pool),
        objective_(energy_, start, energy_.packing(), recipe.lengthscale_prior, energy_.N()) {}

  const Objective& objective() const override { return objective_; }

  void Write(const Vector& parameters, DeepGp* network) const override {
    Unpack(parameters, energy_.packing(), network);
  }

  Closing Close(const Vector& parameters, Index most_rows) const override {
    const EnergyParts closing =
        energy_.EnergyAt(parameters, ClosingRows(energy_.num_rows(), most_rows, seed_));
    return {closing.F / energy_.N(), closing.largest_jitter};
  }

 private:
  std::uint64_t seed_;
  AepEnergy energy_;
  WithLengthscalePrior objective_;
};

// EP takes all rows in each step, SEP a batch.
class FactorEngine : public Engine {
 public:
  FactorEngine(const DeepGp& start, const Moments& x, const Matrix& y, const Vector& weights,
               const Recipe& recipe, const ThreadPool& pool)
      : rows_(x.rows()), seed_(recipe.seed) {
    const FactorOptions options{
        .alpha = recipe.alpha, .noise_floor = recipe.noise_floor, .weights = weights};
    const bool ep = recipe.inference == Inference::kEp;
    batch_ = ep ? rows_ : std::min(recipe.optimizer.batch_size, rows_);
    if (ep) {
      inference_ = std::make_unique<Ep>(start, x, y, options, pool);
    } else {
      inference_ = std::make_unique<Sep>(start, x, y, options, pool);
    }
    objective_.emplace(*inference_, start, inference_->packing(), recipe.lengthscale_prior,
                       inference_->N());
  }

  const Objective& objective() const override { return *objective_; }
  Index BatchSize(Index /*asked*/) const override { return batch_; }

  void Start(const Vector& parameters, const FactorState& factors) override {
    updates_ = factors.updates;
    if (factors.arrays.empty()) {
      Settle(parameters);
    } else {
      inference_->RestoreState(factors.arrays);
    }
  }

  void AfterStep(const Vector& parameters) override {
    try {
      Update(parameters);
    } catch (const NumericalError&) {
      // Where the factors cannot be updated, the energy cannot be computed either: the optimiser
      // notices in its next step and goes back.
    }
  }

  // The factors stand for the parameters that failed.
  void Recover(const Vector& parameters) override {
    try {
      Settle(parameters);
    } catch (const NumericalError&) {  // the optimiser notices, as above
    }
  }

  FactorState Factors() const override { return {inference_->SaveState(), updates_}; }

  // Updates until the posterior mean moves less than kSettled (its prior variance is 1), at most
  // kMostUpdates times.
  void Settle(const Vector& parameters) override {
    constexpr Index kMostUpdates = 20;
    constexpr double kSettled = 1e-3;
    for (Index i = 0; i < kMostUpdates && Update(parameters) > kSettled; ++i) {
    }
  }

  void Write(const Vector& parameters, DeepGp* network) const override {
    *network = inference_->Posterior(parameters);
  }

  Closing Close(const Vector& parameters, Index /*most_rows*/) const override {
    return {inference_->Energy(parameters, nullptr) / inference_->N(),
            inference_->LargestJitter(parameters)};
  }

 private:
  double Update(const Vector& parameters) {
    return inference_->Update(parameters, RowsOf(updates_++));
  }

  // The rows of the n-th update: all, or a random batch.
  std::vector<Index> RowsOf(Index n) const {
    // Apart from the streams of the start, which count from 0, and of the optimiser, from 2^32.
    constexpr std::uint64_t kStreams = std::uint64_t{1} << 48;
    std::vector<Index> rows(static_cast<std::size_t>(rows_));
    std::iota(rows.begin(), rows.end(), Index{0});
    if (batch_ < rows_) {
      rows = RandomStream(seed_, kStreams + static_cast<std::uint64_t>(n)).Permutation(rows_);
      rows.resize(static_cast<std::size_t>(batch_));
    }
    return rows;
  }

  Index rows_, batch_;
  std::uint64_t seed_;
  Index updates_ = 0;
  std::unique_ptr<FactorInference> inference_;
  std::optional<WithLengthscalePrior> objective_;
};

}  // namespace

void CheckRanks(const Recipe& recipe, const Communicator& ranks) {
  if (recipe.inference == Inference::kAep || ranks.size() == 1) return;
  ThrowError("inference 'ep' and 'sep' update factors row after row, which several ranks cannot ",
             "share; train on one rank, or use 'aep'");
}

std::unique_ptr<Engine> NewEngine(const DeepGp& start, const EngineData& data, const Recipe& recipe,
                                  const Communicator& ranks, const ThreadPool& pool) {
  const ScaledRows* const here = data.rows.in_memory();
  if (recipe.inference != Inference::kAep) {
    FATHOM_CHECK(here != nullptr);
    return std::make_unique<FactorEngine>(start, here->x, here->y, here->weights, recipe, pool);
  }
  std::unique_ptr<RowSource> rows =
      data.rows.ranks().size() > 1 ? KeepRows(data.rows.InPlace(), ranks, data.memory)
      : here != nullptr            ? ShareRows(here->x, here->y, here->weights, ranks, data.memory)
                                   : ShareRows(data.rows.Reader(), ranks, data.memory);
  return std::make_unique<AepEngine>(start, std::move(rows), recipe, pool);
}

void HelpEngine(const DeepGp& start, const TrainingRows* held, const Recipe& recipe,
                const Communicator& ranks, const ThreadPool& pool) {
  std::unique_ptr<RowSource> rows =
      held != nullptr ? KeepRows(held->InPlace(), ranks, HUGE_VAL) : ReceiveRows(ranks);
  AepEnergy(start, std::move(rows), EnergyOptions(recipe), pool).Help();
}

}  // namespace fathom
