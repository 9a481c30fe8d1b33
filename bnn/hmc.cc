#include "bnn/hmc.h"

#include <algorithm>
#include <cmath>

#include "bnn/diagnostics.h"
#include "fathom/optimize/adam.h"

namespace fathom::bnn {

namespace {

constexpr InverseGamma kNoisePrior{1, 0.01};
constexpr double kDivergentRise = 1000;  // a rise of H from which no trajectory comes back
constexpr double kStartRate = 0.01;

// The scales v0 of the groups: 1/n_in of weights, 1 of biases.
Vector PriorScales(const MlpShape& shape) {
  Vector scales(shape.num_groups());
  for (Index l = 0; l < shape.num_layers(); ++l) {
    scales[2 * l] = 1 / static_cast<double>(shape.fan_in(l));
    scales[2 * l + 1] = 1;
  }
  return scales;
}

class HmcSampler {
 public:
  HmcSampler(const MlpShape& shape, const Rows& rows, const HmcOptions& options,
             RandomStream stream, Watch* watch)
      : shape_(shape),
        rows_(rows),
        options_(options),
        stream_(stream),
        watch_(*watch),
        prior_scales_(PriorScales(shape)),
        group_variances_(prior_scales_),
        adaptation_(options.first_step) {}

  HmcChain Run() {
    HmcChain out;
    out.chain = Chain(options_.draws, shape_.num_weights());
    out.log_variances.resize(options_.draws, shape_.num_groups() + 1);
    if (!FindStart()) return out;
    curvature_ = Curvature();
    for (Index t = 0; t < options_.burn_in; ++t) {
      if (!Iterate(adaptation_.step(), &out)) return out;
      Adapt(t + 1);
    }
    out.step = adaptation_.averaged();
    out.divergences = 0;
    double acceptance = 0;
    for (Index t = 0; t < options_.draws; ++t) {
      if (!Iterate(out.step * (0.8 + 0.4 * stream_.Uniform()), &out)) return out;
      acceptance += acceptance_;
      out.acceptance = acceptance / static_cast<double>(t + 1);
      out.log_variances.row(t) << group_variances_.array().log().matrix().transpose(),
          std::log(noise_);
      out.chain.Keep(weights_, noise_);
    }
    return out;
  }

 private:
  LogPosterior Evaluate(const Vector& w, Vector* gradient) {
    return EvaluateLogPosterior(shape_, rows_, w, prior_, noise_, &tape_, gradient);
  }

  // A chain starts near a mode, with the noise that fits it.
  bool FindStart() {
    SpreadPrior();
    weights_ = DrawWeights(0.25 * prior_variances_, &stream_);
    const auto N = static_cast<double>(rows_.size());
    AdamState adam(weights_.size());
    Vector gradient;
    noise_ = 1;
    for (Index step = 0; step < options_.start_steps; ++step) {
      const LogPosterior at = Evaluate(weights_, &gradient);
      if (step % 50 == 0) noise_ = (kNoisePrior.scale + 0.5 * at.squared_residuals) / (0.5 * N + 2);
      AdamStep({}, kStartRate, -gradient / N, &adam, &weights_);
      if (!watch_.Advance()) return false;
    }
    return true;
  }

  // c = 1 + v_g Fisher: the curvature of each weight in units of its prior.
  Vector Curvature() {
    const Vector fisher = FisherDiagonal(shape_, rows_, weights_, noise_, &tape_);
    return 1 + prior_variances_.array() * fisher.array();
  }

  // One trajectory and one draw of all variances. False if it was stopped on its way.
  bool Iterate(double step, HmcChain* out) {
    const Vector inverse_mass = prior_variances_.cwiseQuotient(curvature_);
    HmcPoint point{.weights = weights_,
                   .momentum = DrawWeights(inverse_mass.cwiseInverse(), &stream_)};
    point.log_posterior = Evaluate(weights_, &point.gradient);
    const double start = point.Hamiltonian(inverse_mass);
    double squares = point.log_posterior.squared_residuals;
    const Index leapfrogs = options_.least_leapfrogs +
                            stream_.Below(options_.most_leapfrogs - options_.least_leapfrogs + 1);
    const HmcTarget target = [this](const Vector& w, Vector* gradient) {
      return Evaluate(w, gradient);
    };
    bool diverged = false;
    for (Index i = 0; i < leapfrogs && !diverged; ++i) {
      Leapfrog(target, inverse_mass, step, &point);
      diverged = !(point.Hamiltonian(inverse_mass) - start < kDivergentRise);
      if (!watch_.Advance()) return false;
    }
    acceptance_ = diverged ? 0 : AcceptanceProbability(start, point.Hamiltonian(inverse_mass));
    out->divergences += diverged ? 1 : 0;
    if (stream_.Uniform() < acceptance_) {
      weights_ = point.weights;
      squares = point.log_posterior.squared_residuals;
    }
    DrawVariances(squares);
    return true;
  }

  void SpreadPrior() {
    prior_variances_ = shape_.SpreadGroups(group_variances_);
    prior_ = WeightPrior(prior_variances_);
  }

  void DrawVariances(double squared_residuals) {
    const Vector sizes = shape_.GroupSizes();
    const Vector squares = shape_.SumGroups(weights_.cwiseAbs2());
    for (Index g = 0; g < sizes.size(); ++g) {
      const InverseGamma prior{1, prior_scales_[g]};
      group_variances_[g] = Conditional(prior, sizes[g], squares[g]).Draw(&stream_);
    }
    SpreadPrior();
    noise_ = Conditional(kNoisePrior, static_cast<double>(rows_.size()), squared_residuals)
                 .Draw(&stream_);
  }

  // After `done` iterations of burn-in. The curvature is averaged over a quarter of them and then
  // takes over, twice; after that it stays.
  void Adapt(Index done) {
    adaptation_.Update(acceptance_);
    const Index quarter = std::max<Index>(1, options_.burn_in / 4);
    if (done > 2 * quarter) return;
    const Vector now = Curvature();
    averaged_ = since_swap_ == 0 ? now : Vector(averaged_ + now);
    ++since_swap_;
    if (since_swap_ < quarter) return;
    curvature_ = averaged_ / static_cast<double>(since_swap_);
    since_swap_ = 0;
    adaptation_ = DualAveraging(options_.first_step);
  }

  const MlpShape& shape_;
  const Rows& rows_;
  const HmcOptions& options_;
  RandomStream stream_;
  Watch& watch_;
  Vector prior_scales_, group_variances_;
  DualAveraging adaptation_;
  Vector weights_, prior_variances_, curvature_, averaged_;
  WeightPrior prior_;
  Index since_swap_ = 0;
  double noise_ = 1, acceptance_ = 0;
  MlpTape tape_;
};

}  // namespace

std::vector<HmcChain> SampleHmc(const MlpShape& shape, const Rows& rows, const HmcOptions& options,
                                std::uint64_t seed, const ThreadPool& pool, Watch* watch) {
  const Index leapfrogs = (options.least_leapfrogs + options.most_leapfrogs) / 2;
  watch->Plan(static_cast<double>(
      options.chains * (options.start_steps + (options.burn_in + options.draws) * leapfrogs)));
  std::vector<HmcChain> chains(static_cast<std::size_t>(options.chains));
  pool.Run(options.chains, [&](Index c) {
    chains[static_cast<std::size_t>(c)] =
        HmcSampler(shape, rows, options, RandomStream(seed, static_cast<std::uint64_t>(c)), watch)
            .Run();
  });
  return chains;
}

}  // namespace fathom::bnn
