#include "bnn/dropout.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "fathom/optimize/adam.h"

namespace fathom::bnn {

namespace {

constexpr double kAdamRate = 1e-3;
constexpr Index kBatch = 128;
constexpr double kLeastLogPrecision = -2;
constexpr double kMostLogPrecision = 16;

// Mean over all rows of log mean_t N(y; f_t, 1/tau).
double MeanLogLikelihood(const std::vector<Passes>& cuts, double log_precision) {
  const double tau = std::exp(log_precision);
  double sum = 0;
  double rows = 0;
  for (const Passes& cut : cuts) {
    for (Index n = 0; n < cut.y.size(); ++n) {
      const auto squares = (cut.outputs.col(n).array() - cut.y[n]).square();
      const double least = squares.minCoeff();
      sum += std::log((-0.5 * tau * (squares - least)).exp().mean()) - 0.5 * tau * least;
    }
    rows += static_cast<double>(cut.y.size());
  }
  return sum / rows + 0.5 * (log_precision - std::log(2 * std::numbers::pi));
}

}  // namespace

Vector GlorotStart(const MlpShape& shape, RandomStream* stream) {
  Vector weights = Vector::Zero(shape.num_weights());
  for (Index l = 0; l < shape.num_layers(); ++l) {
    const double bound = std::sqrt(6 / static_cast<double>(shape.fan_in(l) + shape.fan_out(l)));
    auto W = shape.Layer(&weights, l);
    for (Index j = 0; j < W.rows(); ++j) {
      for (Index i = 0; i < shape.fan_in(l); ++i) W(j, i) = bound * (2 * stream->Uniform() - 1);
    }
  }
  return weights;
}

Vector ThinnedWeights(const MlpShape& shape, const Vector& weights, double rate,
                      RandomStream* stream) {
  Vector thinned = weights;
  const double kept = 1 / (1 - rate);
  for (Index l = 0; l < shape.num_layers(); ++l) {
    auto W = shape.Layer(&thinned, l);
    for (Index i = 0; i < shape.fan_in(l); ++i) W.col(i) *= stream->Uniform() < rate ? 0 : kept;
  }
  return thinned;
}

Index DefaultDropoutEpochs(Index rows) { return rows < 20000 ? 4000 : 2000; }

double DropoutWork(Index rows, Index epochs) {
  const Index batches = (rows + kBatch - 1) / kBatch;
  return static_cast<double>(epochs * batches);
}

namespace {

// What a training must remember.
struct DropoutFit {
  Vector weights;
  AdamState adam;
  NoiseStream masks;
  Index step = 0, steps = 0;  // that are done, and all

  template <typename Visitor>
  void Visit(const Visitor& visit) {
    visit("weights", &weights);
    visit("adam", &adam);
    visit("masks", &masks);
    visit("step", &step, steps);
  }
};

}  // namespace

Vector TrainDropout(const MlpShape& shape, const Rows& rows, const DropoutPrior& prior,
                    Index epochs, std::uint64_t seed, Job* job) {
  RandomStream start(seed, 0);
  BatchPlan batches(rows, kBatch, BatchPlan::Remainder::kKeep, seed ^ 1);
  DropoutFit fit{.weights = GlorotStart(shape, &start),
                 .adam = AdamState(shape.num_weights()),
                 .masks = NoiseStream(seed, 1),
                 .steps = epochs * batches.steps_per_epoch()};
  if (job->Restore(&fit)) job->Advance(static_cast<double>(fit.step));
  const double decay = WeightDecay(prior, rows.size());
  MlpTape tape;
  InputFactors factors;
  Vector gradient;
  while (fit.step < fit.steps) {
    const Rows& batch = batches.At(fit.step);
    DrawFactors(shape, prior.rate, batch.size(), &fit.masks, &factors);
    DropoutLoss({shape, fit.weights}, batch, factors, decay, &tape, &gradient);
    AdamStep({}, kAdamRate, gradient, &fit.adam, &fit.weights);
    ++fit.step;
    job->KeepIfDue(&fit);
    if (!job->Advance()) break;
  }
  job->Keep(&fit);
  return fit.weights;
}

PrecisionChoice ChoosePrecision(const std::vector<Passes>& cuts) {
  constexpr double kGridStep = 0.5;
  double best = kLeastLogPrecision;
  double best_value = -std::numeric_limits<double>::infinity();
  for (double at = kLeastLogPrecision; at <= kMostLogPrecision; at += kGridStep) {
    const double value = MeanLogLikelihood(cuts, at);
    if (!(value > best_value)) continue;
    best = at;
    best_value = value;
  }
  // Golden section between the neighbours of the best.
  double low = best - kGridStep;
  double high = best + kGridStep;
  const double golden = 0.5 * (std::sqrt(5.0) - 1);
  while (high - low > 1e-4) {
    const double a = high - golden * (high - low);
    const double b = low + golden * (high - low);
    if (MeanLogLikelihood(cuts, a) > MeanLogLikelihood(cuts, b)) {
      high = b;
    } else {
      low = a;
    }
  }
  const double at = 0.5 * (low + high);
  return {std::exp(at), MeanLogLikelihood(cuts, at)};
}

std::vector<DropoutTrial> TryDropoutRates(const MlpShape& shape, const std::vector<Cut>& cuts,
                                          const DropoutSearch& search, std::uint64_t seed,
                                          const ThreadPool& pool, Watch* watch) {
  const auto num_cuts = static_cast<Index>(cuts.size());
  const auto num_rates = static_cast<Index>(search.rates.size());
  std::vector<std::vector<Passes>> passes(search.rates.size(), std::vector<Passes>(cuts.size()));
  pool.Run(num_rates * num_cuts, [&](Index job) {
    const auto rate = static_cast<std::size_t>(job / num_cuts);
    const auto k = static_cast<std::size_t>(job % num_cuts);
    const std::uint64_t own = SeedFor(seed, "cut " + std::to_string(k));
    const DropoutPrior prior{.rate = search.rates[rate]};
    Job training("trial " + std::to_string(job), watch);
    const Vector weights =
        TrainDropout(shape, cuts[k].train.rows, prior, search.epochs, own, &training);
    Passes& out = passes[rate][k];
    out.y = cuts[k].held_out.y;
    out.outputs.resize(search.passes, out.y.size());
    for (Index t = 0; t < search.passes && !watch->stopped(); ++t) {
      RandomStream stream(own, 100 + static_cast<std::uint64_t>(t));
      out.outputs.row(t) = MlpOutputs({shape, ThinnedWeights(shape, weights, prior.rate, &stream)},
                                      cuts[k].held_out.X);
    }
  });
  std::vector<DropoutTrial> trials;
  if (watch->stopped()) return trials;
  for (std::size_t rate = 0; rate < search.rates.size(); ++rate)
    trials.push_back({search.rates[rate], ChoosePrecision(passes[rate])});
  std::stable_sort(trials.begin(), trials.end(), [](const DropoutTrial& a, const DropoutTrial& b) {
    return a.choice.log_likelihood > b.choice.log_likelihood;
  });
  return trials;
}

}  // namespace fathom::bnn
