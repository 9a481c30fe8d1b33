#include "fathom/inference/aep_energy.h"

#include <cmath>
#include <utility>

#include "fathom/base/error.h"

namespace fathom {

struct AepEnergy::Workspace {
  explicit Workspace(const DeepGp& shape) : model(shape), gradient(shape) {}
  ListedModel model, gradient;
  ConditionedModel gps;
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
      network_options_{.uncertain = (x.var.array() != 0).any(),
                       .joint = shape_.full_covariance,
                       .precision = options_.precision},
      num_parameters_(NumUnconstrained(shape_)) {
  if (options_.N == 0) options_.N = mean_weight_ * static_cast<double>(x.rows());
  Require(options_.alpha >= 0 && options_.alpha <= options_.N, "alpha",
          "at least 0 and at most the number of rows, or the sum of their weights", options_.alpha);
  FATHOM_CHECK(x.rows() == y.rows());
  FATHOM_CHECK(options_.weights.size() == 0 ||
               (options_.weights.size() == x.rows() && options_.weights.minCoeff() > 0));
  shape_.likelihood->CheckTargets(shape_.outputs(), y);
  CheckNetwork(shape_, network_options_);
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

EnergyParts AepEnergy::Energy(const DeepGp& model, const Batch& batch, DeepGp* gradient,
                              Moments* d_x) const {
  std::unique_ptr<Workspace> workspace = Borrow();
  if (gradient != nullptr) *gradient = model;
  const EnergyParts parts = Energy(model, batch, {gradient, d_x}, workspace.get());
  Return(std::move(workspace));
  return parts;
}

EnergyParts AepEnergy::Energy(const DeepGp& model, const Batch& batch, const Gradient& gradient,
                              Workspace* workspace) const {
  const double alpha = options_.alpha;
  ConditionedModel& gps = workspace->gps;
  Network& network = workspace->network;
  gps.Prepare(model, {alpha, options_.N}, pool_);
  NetworkOptions network_options = network_options_;
  network_options.inputs = gradient.inputs != nullptr;
  network.Prepare(model, network_options, gps, pool_);
  const Want want = gradient.inputs != nullptr  ? Want::kInputs
                    : gradient.model != nullptr ? Want::kGradient
                                                : Want::kValue;
  const Sums& sums =
      SumLogZ(network,
              {.alpha = alpha,
               .outer = options_.mixture ? 1 : alpha,
               .paths = TrainingPaths(model, options_.seed, batch.draw)},
              {x_, y_, options_.weights, batch.rows}, want, pool_, &workspace->log_z);
  // For alpha = 0, log Z is already the limit of log Z / alpha.
  const double scale = options_.N / ((alpha == 0 ? 1 : alpha) * mean_weight_ *
                                     static_cast<double>(batch.rows.size()));
  EnergyParts parts;
  parts.factors = gps.FactorEnergy();
  parts.sum_log_z = sums.log_z();
  parts.F = parts.factors + scale * sums.log_z();
  parts.largest_jitter = gps.LargestJitter();
  if (gradient.inputs != nullptr) {
    gradient.inputs->mean = scale * workspace->log_z.d_inputs.mean;
    gradient.inputs->var = scale * workspace->log_z.d_inputs.var;
  }
  if (gradient.model != nullptr) {
    network.Finish(sums, scale, pool_, &gps, gradient.model);
    gps.Backward(model, scale, pool_, gradient.model);
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
    DeepGp* const d_model = gradient != nullptr ? &workspace->gradient.model : nullptr;
    const DeepGp& model = workspace->model.model;
    *value = -Energy(model, batch, {.model = d_model}, workspace.get()).F / options_.N;
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
