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
              std::uint64_t seed, Job* job)
      : shape_(shape),
        rows_(rows),
        options_(options),
        stream_(seed, 1),
        xi_(seed, 2),
        job_(*job),
        batches_(rows, BatchSize(rows.size(), options), BatchPlan::Remainder::kDrop, seed ^ 1),
        sample_(Head(rows, kFisherRows, &stream_)),
        point_{Vector(shape.num_weights())},
        preconditioner_{Vector::Zero(shape.num_weights())},
        adam_(shape.num_weights() + 1),
        fisher_(Vector::Zero(shape.num_weights())),
        chain_(options.draws, shape.num_weights()) {
    posterior_.rows = rows.size();
    posterior_.prior.weight_variances = options.prior == PriorScale::kUnit
                                            ? Vector(Vector::Ones(shape.num_weights()))
                                            : shape.FanInVariances();
  }

  std::optional<Chain> Run() {
    if (job_.Restore(this)) {
      job_.Advance(static_cast<double>(start_step_ + step_));
    } else {
      point_ = {DrawWeights(shape_.FanInVariances(), &stream_), InverseSoftplus(0.1)};
    }
    if (FindStart()) Sample();
    job_.Keep(this);
    if (diverged_ != 0) return std::nullopt;
    return std::move(chain_);
  }

  template <typename Visitor>
  void Visit(const Visitor& visit) {
    visit("start_step", &start_step_, options_.start_steps);
    visit("step", &step_, options_.steps);
    visit("weights", &point_.weights);
    visit("kappa", &point_.kappa);
    visit("adam", &adam_);
    visit("noise", &xi_);
    visit("start_residuals", &start_residuals_);
    visit("fisher", &fisher_);
    visit("preconditioner.weights", &preconditioner_.weights);
    visit("preconditioner.kappa", &preconditioner_.kappa);
    visit("preconditioner.quarters", &quarters_, options_.steps);
    visit("diverged", &diverged_, 1);
    visit("chain", &chain_);
  }

 private:
  // The noise of batches must stay small beside the noise that is injected: |B| >= 5 e N.
  static Index BatchSize(Index rows, const SgldOptions& options) {
    const double least = options.plain ? 0 : 5 * options.step * static_cast<double>(rows);
    return std::clamp(static_cast<Index>(std::ceil(least)), DefaultBatchSize(rows), rows);
  }

  // Adam on the log posterior of weights and kappa. False if it was stopped on its way.
  bool FindStart() {
    const auto N = static_cast<double>(rows_.size());
    Vector theta(shape_.num_weights() + 1);
    Vector gradient(theta.size());
    while (start_step_ < options_.start_steps) {
      theta << point_.weights, point_.kappa;
      SgldDrift(shape_, point_, batches_.At(start_step_), posterior_, &tape_, &drift_);
      gradient << -drift_.weights / N, -drift_.kappa / N;
      const bool late = 3 * start_step_ >= 2 * options_.start_steps;
      AdamStep({}, late ? 0.001 : 0.01, gradient, &adam_, &theta);
      point_ = {theta.head(shape_.num_weights()), theta[theta.size() - 1]};
      ++start_step_;
      job_.KeepIfDue(this);
      if (!job_.Advance()) return false;
    }
    return true;
  }

  // All steps that are left, until it diverges or is stopped.
  void Sample() {
    if (step_ == 0) {
      start_residuals_ = Residuals();
      UpdatePreconditioner(1);
      preconditioner_ =
          options_.plain ? SgldPoint{Vector::Ones(shape_.num_weights()), 1} : NextPreconditioner();
    }
    const Index burn_in = options_.steps / 3;
    const Index look = std::max<Index>(1, burn_in / 40);
    while (step_ < options_.steps && diverged_ == 0) {
      Step();
      ++step_;
      if (step_ % look == 0) {
        diverged_ = Residuals() < kDivergentGrowth * start_residuals_ ? 0 : 1;
        if (step_ <= burn_in) Adapt(step_, burn_in);
      }
      if (IsDue(burn_in)) chain_.Keep(point_.weights, NoiseVariance(point_.kappa));
      job_.KeepIfDue(this);
      if (!job_.Advance()) return;
    }
  }

  // Whether a draw is kept after this step: they are spread evenly over those after burn-in.
  bool IsDue(Index burn_in) const {
    const double between =
        static_cast<double>(options_.steps - burn_in) / static_cast<double>(options_.draws);
    const double due =
        static_cast<double>(burn_in) + between * static_cast<double>(chain_.size() + 1);
    return step_ >= burn_in && static_cast<double>(step_) >= due && chain_.size() < options_.draws;
  }

  void Step() {
    SgldDrift(shape_, point_, batches_.At(options_.start_steps + step_), posterior_, &tape_,
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
    return SumSquaredResiduals({shape_, point_.weights}, sample_, &tape_, nullptr);
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
    const Vector now = scale * FisherDiagonal({shape_, point_.weights}, sample_, noise, &tape_);
    fisher_ = (1 - weight) * fisher_ + weight * now;
  }

  SgldPoint NextPreconditioner() const {
    return InverseCurvature(fisher_, point_.kappa, posterior_);
  }

  const MlpShape& shape_;
  const Rows& rows_;
  const SgldOptions& options_;
  RandomStream stream_;
  NoiseStream xi_;
  Job& job_;
  BatchPlan batches_;
  Rows sample_;
  SgldPosterior posterior_;
  SgldPoint point_, preconditioner_, drift_, noise_;
  AdamState adam_;
  Vector fisher_;
  Chain chain_;
  Index start_step_ = 0, step_ = 0;  // that are done
  double start_residuals_ = 0;
  Index quarters_ = 0;
  Index diverged_ = 0;  // or 1
  MlpTape tape_;
};

// Sum over rows of the log density of the chain's mixture.
double HeldOutLogLikelihood(const MlpShape& shape, const Chain& chain, const Rows& rows) {
  Matrix outputs(chain.size(), rows.size());
  for (Index s = 0; s < chain.size(); ++s)
    outputs.row(s) = MlpOutputs({shape, chain.weights.row(s)}, rows.X);
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

// What a trial leaves behind: much less than its chain.
struct TrialResult {
  double log_likelihood = -std::numeric_limits<double>::infinity();  // summed over held-out rows

  template <typename Visitor>
  void Visit(const Visitor& visit) {
    visit("log_likelihood", &log_likelihood);
  }
};

double TrySettings(const MlpShape& shape, const Cut& cut, const SgldOptions& options,
                   std::uint64_t seed, const std::string& name, Watch* watch) {
  const std::string result_name = "result of " + name;
  TrialResult result;
  if (Job(result_name, watch).Restore(&result)) {
    watch->Advance(static_cast<double>(options.start_steps + options.steps));
    return result.log_likelihood;
  }
  Job job(name, watch);
  const std::optional<Chain> chain = SampleSgldChain(shape, cut.train.rows, options, seed, &job);
  if (chain && chain->size() > 0)
    result.log_likelihood = HeldOutLogLikelihood(shape, *chain, cut.held_out);
  if (watch->stopped()) return result.log_likelihood;
  Job(result_name, watch).Keep(&result);
  job.Forget();
  return result.log_likelihood;
}

}  // namespace

std::optional<Chain> SampleSgldChain(const MlpShape& shape, const Rows& rows,
                                     const SgldOptions& options, std::uint64_t seed, Job* job) {
  return SgldSampler(shape, rows, options, seed, job).Run();
}

std::vector<Chain> SampleSgld(const MlpShape& shape, const Rows& rows, const SgldOptions& options,
                              std::uint64_t seed, const ThreadPool& pool, Watch* watch) {
  std::vector<std::optional<Chain>> all(static_cast<std::size_t>(options.chains));
  pool.Run(options.chains, [&](Index c) {
    const std::string attempt =
        options.attempt == 0 ? "" : "attempt " + std::to_string(options.attempt) + ", ";
    const std::string name = attempt + "chain " + std::to_string(c);
    Job job(name, watch);
    all[static_cast<std::size_t>(c)] =
        SampleSgldChain(shape, rows, options, SeedFor(seed, name), &job);
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
    sums(job / num_cuts, job % num_cuts) =
        TrySettings(shape, cut, trial, own, "trial " + std::to_string(job), watch);
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
