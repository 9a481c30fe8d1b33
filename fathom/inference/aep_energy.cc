#include "fathom/inference/aep_energy.h"

#include <cmath>

#include "fathom/base/error.h"
#include "fathom/inference/full_covariance.h"

namespace fathom {

struct AepEnergy::Workspace {
  DeepGp model, gradient;
  Network network;
  LogZWorkspace log_z;
};

AepEnergy::AepEnergy(DeepGp shape, const Moments& x, const Matrix& y, AepOptions options,
                     const ThreadPool& pool)
    : shape_(std::move(shape)),
      x_(x),
      y_(y),
      options_(options),
      pool_(pool),
      uncertain_inputs_((x.var.array() != 0).any()),
      num_parameters_(NumUnconstrained(shape_)) {
  if (options_.N == 0) options_.N = static_cast<double>(x.rows());
  Require(options_.alpha >= 0 && options_.alpha <= options_.N, "alpha",
          "at least 0 and at most the number of rows", options_.alpha);
  FATHOM_CHECK(x.rows() == y.rows());
  shape_.likelihood->CheckTargets(shape_.outputs(), y);
  if (shape_.full_covariance) CheckFullCovariance(shape_, uncertain_inputs_);
}

AepEnergy::~AepEnergy() = default;

Index AepEnergy::num_parameters() const { return num_parameters_; }

std::unique_ptr<AepEnergy::Workspace> AepEnergy::Borrow() const {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) {
    auto workspace = std::make_unique<Workspace>();
    workspace->model = shape_;
    workspace->gradient = shape_;
    return workspace;
  }
  std::unique_ptr<Workspace> workspace = std::move(idle_.back());
  idle_.pop_back();
  return workspace;
}

void AepEnergy::Return(std::unique_ptr<Workspace> workspace) const {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(workspace));
}

EnergyParts AepEnergy::Energy(const DeepGp& model, std::span<const Index> batch,
                              DeepGp* gradient) const {
  std::unique_ptr<Workspace> workspace = Borrow();
  if (gradient != nullptr) *gradient = model;
  const EnergyParts parts = Energy(model, batch, gradient, workspace.get());
  Return(std::move(workspace));
  return parts;
}

EnergyParts AepEnergy::Energy(const DeepGp& model, std::span<const Index> batch, DeepGp* gradient,
                              Workspace* workspace) const {
  const double alpha = options_.alpha;
  Network& network = workspace->network;
  network.Prepare(model, {alpha, options_.N}, uncertain_inputs_, pool_);
  FullLayers full;
  FullLayers::Sums full_sums;
  if (model.full_covariance) {
    full.Prepare(network, uncertain_inputs_);
    full_sums = full.SumLogZ(alpha, x_, y_, batch, pool_);
  }
  const Network::Sums& sums =
      model.full_covariance
          ? full_sums.network
          : SumLogZ(network, alpha, x_, y_, batch, uncertain_inputs_, pool_, &workspace->log_z);
  // For alpha = 0, log Z is already the limit of log Z / alpha.
  const double scale = options_.N / ((alpha == 0 ? 1 : alpha) * static_cast<double>(batch.size()));
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

bool AepEnergy::Evaluate(const Vector& parameters, std::span<const Index> batch, double* value,
                         Vector* gradient, std::string* reason) const {
  FATHOM_CHECK(parameters.size() == num_parameters_ && !batch.empty());
  if (!parameters.allFinite()) {
    *reason = "a parameter is not finite";
    return false;
  }
  std::unique_ptr<Workspace> workspace = Borrow();
  bool good = false;
  try {
    Unpack(parameters, packing(), &workspace->model);
    DeepGp* d_model = gradient != nullptr ? &workspace->gradient : nullptr;
    *value = -Energy(workspace->model, batch, d_model, workspace.get()).F / options_.N;
    good = std::isfinite(*value);
    if (!good) *reason = "the energy is not finite";
    if (good && gradient != nullptr) {
      gradient->resize(num_parameters_);
      PackGradient(workspace->model, packing(), d_model, gradient);
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
