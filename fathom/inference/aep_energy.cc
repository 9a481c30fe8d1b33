#include "fathom/inference/aep_energy.h"

#include <cmath>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/inference/full_covariance.h"

namespace fathom {

struct AepEnergy::Workspace {
  explicit Workspace(const DeepGp& shape) : model(shape), gradient(shape) {}
  ListedModel model, gradient;
  Network network;
  LogZWorkspace log_z;
};

AepEnergy::AepEnergy(DeepGp shape, const Moments& x, const Matrix& y, AepOptions options,
                     const ThreadPool& pool)
    : shape_(std::move(shape)),
      x_(x),
      y_(y),
      options_(std::move(options)),
      pool_(pool),
      mean_weight_(options_.weights.size() == 0 ? 1 : options_.weights.mean()),
      uncertain_inputs_((x.var.array() != 0).any()),
      num_parameters_(NumUnconstrained(shape_)) {
  if (options_.N == 0) options_.N = mean_weight_ * static_cast<double>(x.rows());
  Require(options_.alpha >= 0 && options_.alpha <= options_.N, "alpha",
          "at least 0 and at most the number of rows, or the sum of their weights", options_.alpha);
  FATHOM_CHECK(x.rows() == y.rows());
  FATHOM_CHECK(options_.weights.size() == 0 ||
               (options_.weights.size() == x.rows() && options_.weights.minCoeff() > 0));
  shape_.likelihood->CheckTargets(shape_.outputs(), y);
  if (shape_.full_covariance) CheckFullCovariance(shape_, uncertain_inputs_);
}

AepEnergy::~AepEnergy() = default;

Index AepEnergy::num_parameters() const { return num_parameters_; }

std::unique_ptr<AepEnergy::Workspace> AepEnergy::Borrow() const {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return std::make_unique<Workspace>(shape_);
  std::unique_ptr<Workspace> workspace = std::move(idle_.back());
  idle_.pop_back();
  return workspace;
}

void AepEnergy::Return(std::unique_ptr<Workspace> workspace) const {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(workspace));
}

EnergyParts AepEnergy::Energy(const DeepGp& model, const Batch& batch, DeepGp* gradient) const {
  std::unique_ptr<Workspace> workspace = Borrow();
  if (gradient != nullptr) *gradient = model;
  const EnergyParts parts = Energy(model, batch, gradient, workspace.get());
  Return(std::move(workspace));
  return parts;
}

EnergyParts AepEnergy::Energy(const DeepGp& model, const Batch& batch, DeepGp* gradient,
                              Workspace* workspace) const {
  const double alpha = options_.alpha;
  Network& network = workspace->network;
  network.Prepare(model, {alpha, options_.N},
                  {.uncertain = uncertain_inputs_, .precision = options_.precision}, pool_);
  FullLayers full;
  FullLayers::Sums full_sums;
  if (model.full_covariance) {
    full.Prepare(network, uncertain_inputs_);
    full_sums = full.SumLogZ(alpha, x_, y_, options_.weights, batch.rows, pool_);
  }
  const Network::Sums& sums =
      model.full_covariance
          ? full_sums.network
          : SumLogZ(network,
                    {.alpha = alpha,
                     .outer = options_.mixture ? 1 : alpha,
                     .paths = TrainingPaths(model, options_.seed, batch.draw)},
                    x_, y_, options_.weights, batch.rows,
                    gradient != nullptr ? Want::kGradient : Want::kValue, pool_, &workspace->log_z);
  // For alpha = 0, log Z is already the limit of log Z / alpha.
  const double scale = options_.N / ((alpha == 0 ? 1 : alpha) * mean_weight_ *
                                     static_cast<double>(batch.rows.size()));
  EnergyParts parts;
  parts.factors = network.FactorEnergy();
  parts.sum_log_z = sums.log_z;
  parts.F = parts.factors + scale * sums.log_z;
  parts.largest_jitter = network.LargestJitter();
  if (gradient == nullptr) return parts;
  if (model.full_covariance) {
    network.Finish(sums, scale, pool_, gradient, full.first(),
                   [&](Index layer, std::vector<LatentFunctionGradient>* gradients) {
                     full.Finish(layer, full_sums, gradients);
                   });
  } else {
    network.Finish(sums, scale, pool_, gradient);
  }
  return parts;
}

bool AepEnergy::Evaluate(const Vector& parameters, const Batch& batch, double* value,
                         Vector* gradient, std::string* reason) const {
  FATHOM_CHECK(parameters.size() == num_parameters_ && !batch.rows.empty());
  if (!parameters.allFinite()) {
    *reason = "a parameter is not finite";
    return false;
  }
  std::unique_ptr<Workspace> workspace = Borrow();
  bool good = false;
  try {
    Unpack(parameters, packing(), &workspace->model);
    DeepGp* d_model = gradient != nullptr ? &workspace->gradient.model : nullptr;
    *value = -Energy(workspace->model.model, batch, d_model, workspace.get()).F / options_.N;
    good = std::isfinite(*value);
    if (!good) *reason = "the energy is not finite";
    if (good && gradient != nullptr) {
      gradient->resize(num_parameters_);
      PackGradient(workspace->model, packing(), &workspace->gradient, gradient);
      *gradient *= -1 / options_.N;
      good = gradient->allFinite();
      if (!good) *reason = "the gradient of the energy is not finite";
    }
  } catch (const NumericalError& error) {
    *reason = error.what();
  }
  Return(std::move(workspace));
  return good;
}

}  // namespace fathom
