#include "bnn/vi.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "bnn/job.h"
#include "fathom/base/error.h"
#include "fathom/base/noise_stream.h"
#include "fathom/optimize/adam.h"

namespace fathom::bnn {

namespace {

constexpr double kFirstRate = 0.01;
constexpr double kFirstSd = 0.02;
constexpr double kFirstNoise = 0.1;
constexpr double kLeastNoise = 1e-6;
constexpr double kRamp = 0.3;  // the part of the steps in which the weight of the KL grows to 1

// Constant for half of the steps, then half a cosine to 0. TrendOf knows that.
double RateAt(double fraction) {
  return kFirstRate * 0.5 * (1 + std::cos(std::numbers::pi * std::max(0.0, 2 * fraction - 1)));
}

class ViFit {
 public:
  ViFit(const MlpShape& shape, const Rows& rows, const ViOptions& options, std::uint64_t seed)
      : options_(options),
        noise_(seed, 1),
        batches_(rows, options.batch_size, BatchPlan::Remainder::kDrop, seed ^ 1),
        bound_{.shape = shape,
               .prior = {0, options.prior_variance},
               .kl_weight = 0,
               .rows = rows.size()},
        losses_(options.steps) {
    RandomStream start(seed, 0);
    q_.mu = DrawWeights(shape.FanInVariances(), &start);
    q_.rho = Vector::Constant(shape.num_weights(), std::log(kFirstSd));
    q_.lambda = std::log(options.noise_variance > 0 ? options.noise_variance : kFirstNoise);
    parameters_ = q_.Pack();
    adam_ = AdamState(parameters_.size());
  }

  // Goes on where an earlier run was.
  void Resume(Job* job) {
    if (!job->Restore(this)) return;
    q_ = MeanField::Unpack(parameters_);
    job->Advance(static_cast<double>(steps_));
  }
  template <typename Visitor>
  void Visit(const Visitor& visit) {
    visit("parameters", &parameters_);
    visit("adam", &adam_);
    visit("noise", &noise_);
    visit("losses", &losses_, &steps_);
  }

  void Step() {
    const double fraction = static_cast<double>(steps_) / static_cast<double>(options_.steps);
    bound_.kl_weight = options_.kl_weight * std::min(1.0, fraction / kRamp);
    if (options_.optimal_prior) bound_.prior = OptimalPrior(q_);
    const VariationalLoss loss = Loss(batches_.At(steps_));
    const auto N = static_cast<double>(bound_.rows);
    if (options_.noise_variance > 0) gradient_.lambda = 0;
    // Graves takes steps in log variance, twice rho.
    const double half = options_.form == ViForm::kGraves ? 0.5 : 1;
    gradient_.rho *= half;
    const Index weights = bound_.shape.num_weights();
    parameters_.segment(weights, weights) /= half;
    AdamStep({}, RateAt(fraction), gradient_.Pack() / N, &adam_, &parameters_);
    parameters_.segment(weights, weights) *= half;
    q_ = MeanField::Unpack(parameters_);
    q_.rho = q_.rho.cwiseMax(-12).cwiseMin(3);
    q_.lambda = std::max(q_.lambda, std::log(kLeastNoise));
    parameters_ = q_.Pack();
    losses_[steps_] = (options_.kl_weight * loss.kl + loss.expected_nll) / N;
    ++steps_;
    if (!std::isfinite(losses_[steps_ - 1]))
      throw NumericalError("the evidence bound is not finite after " + std::to_string(steps_) +
                           " steps");
  }

  const MeanField& q() const { return q_; }
  const NormalPrior& prior() const { return bound_.prior; }
  Index steps() const { return steps_; }  // that are done
  // The loss per row in each of them, with the KL at its full weight.
  Vector losses() const { return losses_.head(steps_); }

 private:
  VariationalLoss Loss(const Rows& batch) {
    const MlpShape& shape = bound_.shape;
    if (options_.form == ViForm::kLocal) {
      units_.resize(static_cast<std::size_t>(shape.num_layers()));
      for (Index l = 0; l < shape.num_layers(); ++l) {
        units_[l].resize(options_.samples * batch.size(), shape.fan_out(l));
        noise_.Normals({units_[l].data(), static_cast<std::size_t>(units_[l].size())});
      }
      return LocalFormLoss(bound_, q_, batch, units_, &gradient_, &tape_);
    }
    const bool graves = options_.form == ViForm::kGraves;
    weights_.resize(static_cast<std::size_t>(graves ? 1 : options_.samples));
    for (Vector& eps : weights_) {
      eps.resize(shape.num_weights());
      noise_.Normals({eps.data(), static_cast<std::size_t>(eps.size())});
    }
    return graves ? GravesLoss(bound_, q_, batch, weights_, options_.curvature, &gradient_)
                  : WeightFormLoss(bound_, q_, batch, weights_, &gradient_);
  }

  const ViOptions& options_;
  NoiseStream noise_;
  BatchPlan batches_;
  Bound bound_;
  MeanField q_, gradient_;
  Vector parameters_;
  AdamState adam_;
  UnitNoise units_;
  LocalTape tape_;
  WeightNoise weights_;
  Vector losses_;
  Index steps_ = 0;
};

}  // namespace

Index DefaultViSteps(const MlpShape& shape, Index rows, Index batch_size) {
  const Index per_epoch = rows / std::min(rows, batch_size);
  return std::max<Index>(shape.num_layers() <= 2 ? 10000 : 30000, 40 * per_epoch);
}

LossTrend TrendOf(const Vector& losses) {
  constexpr Index kBlocks = 10;  // of a twentieth; those of more than an epoch are independent
  const Index block = losses.size() / (20 * kBlocks);
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (block == 0) return {kNaN, kNaN};
  const Index end = losses.size() / 2;
  Vector means(2 * kBlocks);
  for (Index k = 0; k < means.size(); ++k)
    means[k] = losses.segment(end - (means.size() - k) * block, block).mean();
  const double before = means.head(kBlocks).mean();
  const double after = means.tail(kBlocks).mean();
  const double squares = (means.head(kBlocks).array() - before).square().sum() +
                         (means.tail(kBlocks).array() - after).square().sum();
  return {after - before, std::sqrt(squares / (kBlocks * (kBlocks - 1)))};
}

ViResult FitVi(const MlpShape& shape, const Rows& rows, const ViOptions& options,
               std::uint64_t seed, Watch* watch) {
  ViFit fit(shape, rows, options, seed);
  Job job("fit", watch);
  fit.Resume(&job);
  while (fit.steps() < options.steps) {
    fit.Step();
    job.KeepIfDue(&fit);
    if (!job.Advance()) break;
  }
  job.Keep(&fit);
  ViResult result{.q = fit.q(), .prior = fit.prior(), .steps = fit.steps()};
  const Vector losses = fit.losses();
  result.loss_per_row = losses.tail(std::max<Index>(1, fit.steps() / 10)).mean();
  if (fit.steps() == options.steps) result.trend = TrendOf(losses);
  return result;
}

}  // namespace fathom::bnn
