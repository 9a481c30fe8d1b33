#include "bnn/sgld.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "bnn/mixture.h"
#include "fathom/base/error.h"
#include "fathom/base/noise_stream.h"
#include "fathom/evaluate/metrics.h"
#include "fathom/optimize/adam.h"

namespace fathom::bnn {

namespace {

constexpr Index kFisherRows = 2000;      // enough to know the curvature by
constexpr double kDivergentGrowth = 10;  // times the squared residuals of the start

// The first rows stand for all: the order of the table was shuffled.
Rows Head(const Rows& rows, Index most, RandomStream* stream) {
  if (rows.size() <= most) return rows;
  std::vector<Index> order = stream->Permutation(rows.size());
  order.resize(static_cast<std::size_t>(most));
  return {rows.X(order, Eigen::all), rows.y(order)};
}

class SgldSampler {
 public:
  SgldSampler(const MlpShape& shape, const Rows& rows, const SgldOptions& options,
              std::uint64_t seed, Watch* watch)
      : shape_(shape),
        rows_(rows),
        options_(options),
        stream_(seed, 1),
        xi_(seed, 2),
        watch_(*watch),
        batches_(rows, BatchSize(rows.size(), options), BatchPlan::Remainder::kDrop, seed ^ 1),
        sample_(Head(rows, kFisherRows, &stream_)) {
    prior_.weight_variances = options.prior == PriorScale::kUnit
                                  ? Vector(Vector::Ones(shape.num_weights()))
                                  : shape.FanInVariances();
  }

  std::optional<Chain> Run() {
    Chain chain(options_.draws, shape_.num_weights());
    if (!FindStart()) return chain;
    const double start = Residuals();
    UpdatePreconditioner(1);
    preconditioner_ =
        options_.plain ? SgldPoint{Vector::Ones(shape_.num_weights()), 1} : NextPreconditioner();
    const Index burn_in = options_.steps / 3;
    const Index look = std::max<Index>(1, burn_in / 40);
    const double between =
        static_cast<double>(options_.steps - burn_in) / static_cast<double>(options_.draws);
    for (Index t = 0; t < options_.steps; ++t) {
      Step(t);
      if (!watch_.Advance()) return chain;
      if ((t + 1) % look == 0) {
        if (!(Residuals() < kDivergentGrowth * start)) return std::nullopt;
        if (t < burn_in) Adapt(t + 1, burn_in);
      }
      const double due =
          static_cast<double>(burn_in) + between * static_cast<double>(chain.size() + 1);
      if (t + 1 >= burn_in && static_cast<double>(t + 1) >= due && chain.size() < options_.draws)
        chain.Keep(point_.weights, NoiseVariance(point_.kappa));
    }
    return chain;
  }

 private:
  // The noise of batches must stay small beside the noise that is injected: |B| >= 5 e N.
  static Index BatchSize(Index rows, const SgldOptions& options) {
    const double least = options.plain ? 0 : 5 * options.step * static_cast<double>(rows);
    return std::clamp(static_cast<Index>(std::ceil(least)), DefaultBatchSize(rows), rows);
  }

  // Adam on the log posterior of weights and kappa.
  bool FindStart() {
    const auto N = static_cast<double>(rows_.size());
    Vector theta(shape_.num_weights() + 1);
    theta << DrawWeights(shape_.FanInVariances(), &stream_), InverseSoftplus(0.1);
    AdamState adam(theta.size());
    SgldPoint drift;
    Vector gradient(theta.size());
    for (Index step = 0; step < options_.start_steps; ++step) {
      point_ = {theta.head(shape_.num_weights()), theta[theta.size() - 1]};
      SgldDrift(shape_, point_, batches_.At(step), rows_.size(), prior_, &tape_, &drift);
      gradient << -drift.weights / N, -drift.kappa / N;
      const bool late = 3 * step >= 2 * options_.start_steps;
      AdamStep({}, late ? 0.001 : 0.01, gradient, &adam, &theta);
      if (!watch_.Advance()) return false;
    }
    point_ = {theta.head(shape_.num_weights()), theta[theta.size() - 1]};
    return true;
  }

  void Step(Index t) {
    SgldDrift(shape_, point_, batches_.At(options_.start_steps + t), rows_.size(), prior_, &tape_,
              &drift_);
    noise_.weights.resize(shape_.num_weights());
    xi_.Normals({noise_.weights.data(), static_cast<std::size_t>(noise_.weights.size())});
    xi_.Normals({&noise_.kappa, 1});
    SgldStep(StepSizes(), preconditioner_, drift_, noise_, &point_);
  }

  SgldStepSizes StepSizes() const {
    const double scale = options_.plain ? 1 / static_cast<double>(rows_.size()) : 1;
    const double kappa = options_.kappa_step > 0 ? options_.kappa_step : options_.step;
    return {scale * options_.step, scale * kappa};
  }

  double Residuals() {
    return SumSquaredResiduals(shape_, point_.weights, sample_, &tape_, nullptr);
  }

  // The curvature is a running average. It takes over at each quarter of burn-in and stays after
  // it: one that went on changing would bias the law that the chain tends to.
  void Adapt(Index done, Index burn_in) {
    UpdatePreconditioner(0.2);
    const Index quarter = std::max<Index>(1, burn_in / 4);
    if (!options_.plain && done / quarter > quarters_) {
      quarters_ = done / quarter;
      preconditioner_ = NextPreconditioner();
    }
  }

  void UpdatePreconditioner(double weight) {
    if (options_.plain) return;
    const double noise = NoiseVariance(point_.kappa);
    const double scale = static_cast<double>(rows_.size()) / static_cast<double>(sample_.size());
    const Vector now = scale * FisherDiagonal(shape_, sample_, point_.weights, noise, &tape_);
    fisher_ = fisher_.size() == 0 ? now : Vector((1 - weight) * fisher_ + weight * now);
  }

  SgldPoint NextPreconditioner() const {
    return InverseCurvature(fisher_, point_.kappa, rows_.size(), prior_);
  }

  const MlpShape& shape_;
  const Rows& rows_;
  const SgldOptions& options_;
  RandomStream stream_;
  NoiseStream xi_;
  Watch& watch_;
  BatchPlan batches_;
  Rows sample_;
  SgldPrior prior_;
  SgldPoint point_, preconditioner_, drift_, noise_;
  Vector fisher_;
  Index quarters_ = 0;
  MlpTape tape_;
};

// Sum over rows of the log density of the chain's mixture.
double HeldOutLogLikelihood(const MlpShape& shape, const Chain& chain, const Rows& rows) {
  Matrix outputs(chain.size(), rows.size());
  for (Index s = 0; s < chain.size(); ++s)
    outputs.row(s) = MlpOutputs(shape, chain.weights.row(s), rows.X);
  const Prediction mixture = MixtureOfDraws(outputs, chain.noise.head(chain.size()));
  double sum = 0;
  for (Index n = 0; n < rows.size(); ++n)
    sum += mixture.LogDensity(n, rows.y.segment(n, 1).transpose());
  return sum;
}

// Of steps that are divided by the rows, and of those in units of the curvature.
constexpr std::array kPlainSteps = {0.1, 0.03, 0.01, 0.003};
constexpr std::array kSteps = {3e-3, 1e-3, 3e-4, 1e-4};

SgldOptions TrialOptions(const SgldOptions& options) {
  SgldOptions trial = options;
  trial.steps = std::max<Index>(1, options.steps / 4);
  trial.draws = std::max<Index>(1, options.draws / 4);
  return trial;
}

}  // namespace

std::optional<Chain> SampleSgldChain(const MlpShape& shape, const Rows& rows,
                                     const SgldOptions& options, std::uint64_t seed, Watch* watch) {
  return SgldSampler(shape, rows, options, seed, watch).Run();
}

std::vector<Chain> SampleSgld(const MlpShape& shape, const Rows& rows, const SgldOptions& options,
                              std::uint64_t seed, const ThreadPool& pool, Watch* watch) {
  std::vector<std::optional<Chain>> all(static_cast<std::size_t>(options.chains));
  pool.Run(options.chains, [&](Index c) {
    const std::uint64_t own = SeedFor(seed, "chain " + std::to_string(c));
    all[static_cast<std::size_t>(c)] = SampleSgldChain(shape, rows, options, own, watch);
  });
  std::vector<Chain> good;
  for (std::optional<Chain>& chain : all) {
    if (chain && chain->size() > 0) good.push_back(std::move(*chain));
  }
  return good;
}

double SgldTrialWork(std::size_t cuts, const SgldOptions& options) {
  return static_cast<double>(cuts * kSteps.size() * 2) *
         static_cast<double>(options.start_steps + TrialOptions(options).steps);
}

std::vector<SgldTrial> TrySgldSettings(const MlpShape& shape, const std::vector<Cut>& cuts,
                                       const SgldOptions& options, std::uint64_t seed,
                                       const ThreadPool& pool, Watch* watch) {
  std::vector<SgldTrial> trials;
  for (const double step : options.plain ? kPlainSteps : kSteps) {
    for (const PriorScale prior : {PriorScale::kFanIn, PriorScale::kUnit})
      trials.push_back({step, prior});
  }
  const auto num_cuts = static_cast<Index>(cuts.size());
  Matrix sums(static_cast<Index>(trials.size()), num_cuts);
  pool.Run(sums.size(), [&](Index job) {
    const Cut& cut = cuts[static_cast<std::size_t>(job % num_cuts)];
    SgldOptions trial = TrialOptions(options);
    trial.step = trials[static_cast<std::size_t>(job / num_cuts)].step;
    trial.prior = trials[static_cast<std::size_t>(job / num_cuts)].prior;
    const std::uint64_t own = SeedFor(seed, "trial " + std::to_string(job % num_cuts));
    const std::optional<Chain> chain = SampleSgldChain(shape, cut.train.rows, trial, own, watch);
    sums(job / num_cuts, job % num_cuts) = chain && chain->size() > 0
                                               ? HeldOutLogLikelihood(shape, *chain, cut.held_out)
                                               : -std::numeric_limits<double>::infinity();
  });
  double rows = 0;
  for (const Cut& cut : cuts) rows += static_cast<double>(cut.held_out.size());
  for (std::size_t k = 0; k < trials.size(); ++k) {
    const double mean = sums.row(static_cast<Index>(k)).sum() / rows;
    trials[k].log_likelihood = std::isnan(mean) ? -std::numeric_limits<double>::infinity() : mean;
  }
  std::stable_sort(trials.begin(), trials.end(), [](const SgldTrial& a, const SgldTrial& b) {
    return a.log_likelihood > b.log_likelihood;
  });
  return trials;
}

}  // namespace fathom::bnn
