#include "bnn/hmc.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "bnn/diagnostics.h"
#include "bnn/job.h"
#include "bnn/training_rows.h"
#include "fathom/optimize/adam.h"

namespace fathom::bnn {

namespace {

constexpr InverseGamma kNoisePrior{1, 0.01};
constexpr double kDivergentRise = 1000;  // a rise of H from which no trajectory comes back
constexpr double kStartRate = 0.01;
// More than the usual 0.8, with which 417 instead of 41 of 8000 trajectories of yacht and energy
// diverged (docs/measurements/decisions.md).
constexpr DualAveragingOptions kAdaptation{.target = 0.9};

// The scales v0 of the groups: 1/n_in of weights, 1 of biases.
Vector PriorScales(const MlpShape& shape) {
  Vector scales(shape.num_groups());
  for (Index l = 0; l < shape.num_layers(); ++l) {
    scales[2 * l] = 1 / static_cast<double>(shape.fan_in(l));
    scales[2 * l + 1] = 1;
  }
  return scales;
}

Index MeanLeapfrogs(const HmcOptions& options) {
  return (options.least_leapfrogs + options.most_leapfrogs) / 2;
}

class HmcSampler {
 public:
  // `single` are the rows again, or null where the network allows no single precision.
  HmcSampler(const MlpShape& shape, const Rows& rows, const SingleRows* single,
             const HmcOptions& options, std::uint64_t seed, Job* job)
      : shape_(shape),
        rows_(rows),
        single_(single),
        options_(options),
        seed_(seed),
        job_(*job),
        prior_scales_(PriorScales(shape)),
        group_variances_(prior_scales_),
        adaptation_(options.first_step, kAdaptation),
        weights_(shape.num_weights()),
        squared_slopes_(Vector::Zero(shape.num_weights())),
        sum_of_slopes_(Vector::Zero(shape.num_weights())),
        adam_(shape.num_weights()) {
    out_.chain = Chain(options_.draws, shape_.num_weights());
    out_.log_variances.resize(options_.draws, shape_.num_groups() + 1);
  }

  HmcChain Run() {
    if (job_.Restore(this)) {
      SpreadPrior();
      job_.Advance(static_cast<double>(start_step_ + iteration_ * MeanLeapfrogs(options_)));
    } else {
      DrawStart();
    }
    if (FindStart()) Sample();
    job_.Keep(this);
    out_.step = adaptation_.averaged();
    return std::move(out_);
  }

  template <typename Visitor>
  void Visit(const Visitor& visit) {
    visit("start_step", &start_step_, options_.start_steps);
    visit("iteration", &iteration_, options_.burn_in + options_.draws);
    visit("weights", &weights_);
    visit("noise", &noise_);
    visit("group_variances", &group_variances_);
    visit("adam", &adam_);
    visit("squared_slopes", &squared_slopes_);
    visit("squared_slopes.sum", &sum_of_slopes_);
    visit("squared_slopes.count", &since_swap_, options_.burn_in);
    adaptation_.Visit(visit);
    visit("acceptance", &out_.acceptance);
    visit("divergences", &out_.divergences, options_.draws);
    visit("chain", &out_.chain);
    visit("log_variances", &out_.log_variances, &out_.chain.kept);
  }

 private:
  // What trajectories and the way to the start follow, in single precision where possible: any
  // function of the weights as a force leaves a leapfrog step reversible and volumes as they are,
  // so that only the energies at both ends of a trajectory must be exact.
  LogPosterior EvaluateForce(const Vector& w, Vector* gradient) {
    if (single_ == nullptr)
      return EvaluateLogPosterior({shape_, w}, rows_, prior_, noise_, &tape_, gradient);
    return EvaluateLogPosterior({shape_, w}, *single_, prior_, noise_, &tape_, gradient);
  }

  // In double. The gradient stays the one that the leapfrog steps follow.
  void MakeEnergyExact(HmcPoint* point) {
    if (single_ == nullptr) return;
    point->log_posterior =
        EvaluateLogPosterior({shape_, point->weights}, rows_, prior_, noise_, &tape_, nullptr);
  }

  // What iteration t draws follows from t, so that a chain can go on from any.
  RandomStream StreamOf(Index iteration) const {
    return RandomStream(seed_, static_cast<std::uint64_t>(iteration) + 1);
  }

  void DrawStart() {
    SpreadPrior();
    RandomStream stream(seed_);
    weights_ = DrawWeights(0.25 * shape_.SpreadGroups(group_variances_), &stream);
  }

  // A chain starts near a mode, with the noise that fits it. False if it was stopped on its way.
  bool FindStart() {
    const auto N = static_cast<double>(rows_.size());
    Vector gradient;
    while (start_step_ < options_.start_steps) {
      const LogPosterior at = EvaluateForce(weights_, &gradient);
      if (start_step_ % 50 == 0)
        noise_ = (kNoisePrior.scale + 0.5 * at.squared_residuals) / (0.5 * N + 2);
      AdamStep({}, kStartRate, -gradient / N, &adam_, &weights_);
      ++start_step_;
      job_.KeepIfDue(this);
      if (!job_.Advance()) return false;
    }
    return true;
  }

  // All iterations that are left, unless it is stopped.
  void Sample() {
    if (iteration_ == 0) squared_slopes_ = SquaredSlopes();
    while (iteration_ < options_.burn_in + options_.draws) {
      const bool warm = iteration_ >= options_.burn_in;
      RandomStream stream = StreamOf(iteration_);
      const double jitter = warm ? 0.8 + 0.4 * stream.Uniform() : 1;
      if (!Iterate(jitter * (warm ? adaptation_.averaged() : adaptation_.step()), &stream)) return;
      ++iteration_;
      if (warm) {
        Keep();
      } else {
        Adapt(iteration_);
      }
      job_.KeepIfDue(this);
    }
  }

  // sum_n (df_n/dw)^2: over the noise, how sharply the rows determine each weight.
  Vector SquaredSlopes() { return FisherDiagonal({shape_, weights_}, rows_, 1, &tape_); }

  // The variance of each weight while the others stay, by the slopes of burn-in and the variances
  // of the moment. A trajectory leaves these as they are, so that its mass may depend on them; a
  // mass that did not would be too small wherever the noise is less than it was in burn-in.
  Vector InverseMass() const {
    return (prior_.precisions + squared_slopes_ / noise_).cwiseInverse();
  }

  // One trajectory and one draw of all variances. False, and nothing has changed, if it was stopped
  // on its way.
  bool Iterate(double step, RandomStream* stream) {
    const Vector inverse_mass = InverseMass();
    HmcPoint point{.weights = weights_,
                   .momentum = DrawWeights(inverse_mass.cwiseInverse(), stream)};
    point.log_posterior = EvaluateForce(weights_, &point.gradient);
    MakeEnergyExact(&point);
    const double start = point.Hamiltonian(inverse_mass);
    double squares = point.log_posterior.squared_residuals;
    const Index leapfrogs = options_.least_leapfrogs +
                            stream->Below(options_.most_leapfrogs - options_.least_leapfrogs + 1);
    const HmcTarget target = [this](const Vector& w, Vector* gradient) {
      return EvaluateForce(w, gradient);
    };
    bool diverged = false;
    for (Index i = 0; i < leapfrogs && !diverged; ++i) {
      Leapfrog(target, inverse_mass, step, &point);
      diverged = !(point.Hamiltonian(inverse_mass) - start < kDivergentRise);
      if (!job_.Advance()) return false;
    }
    MakeEnergyExact(&point);
    acceptance_ = diverged ? 0 : AcceptanceProbability(start, point.Hamiltonian(inverse_mass));
    diverged_ = diverged;
    if (stream->Uniform() < acceptance_) {
      weights_ = point.weights;
      squares = point.log_posterior.squared_residuals;
    }
    DrawVariances(squares, stream);
    return true;
  }

  void SpreadPrior() { prior_ = WeightPrior(shape_.SpreadGroups(group_variances_)); }

  void DrawVariances(double squared_residuals, RandomStream* stream) {
    const Vector sizes = shape_.GroupSizes();
    const Vector squares = shape_.SumGroups(weights_.cwiseAbs2());
    for (Index g = 0; g < sizes.size(); ++g) {
      const InverseGamma prior{1, prior_scales_[g]};
      group_variances_[g] = Conditional(prior, sizes[g], squares[g]).Draw(stream);
    }
    SpreadPrior();
    noise_ =
        Conditional(kNoisePrior, static_cast<double>(rows_.size()), squared_residuals).Draw(stream);
  }

  void Keep() {
    Chain& chain = out_.chain;
    out_.divergences += diverged_ ? 1 : 0;
    out_.acceptance += (acceptance_ - out_.acceptance) / static_cast<double>(chain.size() + 1);
    out_.log_variances.row(chain.size()) << group_variances_.array().log().matrix().transpose(),
        std::log(noise_);
    chain.Keep(weights_, noise_);
  }

  // After `done` iterations of burn-in. The slopes are averaged over a quarter of them, and the
  // average takes over, twice; after that it stays.
  void Adapt(Index done) {
    adaptation_.Update(acceptance_);
    const Index quarter = std::max<Index>(1, options_.burn_in / 4);
    if (done > 2 * quarter) return;
    sum_of_slopes_ += SquaredSlopes();
    ++since_swap_;
    if (since_swap_ < quarter) return;
    squared_slopes_ = sum_of_slopes_ / static_cast<double>(since_swap_);
    sum_of_slopes_.setZero();
    since_swap_ = 0;
    adaptation_ = DualAveraging(options_.first_step, kAdaptation);
  }

  const MlpShape& shape_;
  const Rows& rows_;
  const SingleRows* single_;
  const HmcOptions& options_;
  std::uint64_t seed_;
  Job& job_;
  Vector prior_scales_, group_variances_;
  DualAveraging adaptation_;
  Vector weights_, squared_slopes_, sum_of_slopes_;
  WeightPrior prior_;
  AdamState adam_;
  Index start_step_ = 0, iteration_ = 0;  // that are done
  Index since_swap_ = 0;
  double noise_ = 1;
  double acceptance_ = 0;  // of the last trajectory
  bool diverged_ = false;
  HmcChain out_;
  MlpTape tape_;
};

}  // namespace

std::vector<HmcChain> SampleHmc(const MlpShape& shape, const Rows& rows, const HmcOptions& options,
                                std::uint64_t seed, const ThreadPool& pool, Watch* watch) {
  const Index iterations = options.burn_in + options.draws;
  watch->Plan(static_cast<double>(options.chains *
                                  (options.start_steps + iterations * MeanLeapfrogs(options))));
  std::optional<SingleRows> single;
  if (HasOneReluLayer(shape)) single.emplace(rows);
  std::vector<HmcChain> chains(static_cast<std::size_t>(options.chains));
  pool.Run(options.chains, [&](Index c) {
    const std::string name = "chain " + std::to_string(c);
    Job job(name, watch);
    chains[static_cast<std::size_t>(c)] =
        HmcSampler(shape, rows, single ? &*single : nullptr, options, SeedFor(seed, name), &job)
            .Run();
  });
  return chains;
}

}  // namespace fathom::bnn
