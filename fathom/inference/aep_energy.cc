#include "fathom/inference/aep_energy.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "fathom/base/error.h"

namespace fathom {

struct AepEnergy::Workspace {
  explicit Workspace(const DeepGp& shape) : model(shape), gradient(shape) {}
  ListedModel model, gradient;
  ConditionedModel gps;
  Network network;
  FetchedRows rows;
  LogZWorkspace log_z;
  FunctionMemory functions;
  Vector message;  // the parameters and, behind them, the rows of a batch: sent at once
};

// Rank 0 sends it, then the message.
struct AepEnergy::Call {
  enum Kind : std::int64_t { kEnd, kValue, kGradient };
  Kind kind = kEnd;
  std::int64_t rows = 0;
  std::uint64_t draw = 0;
};

namespace {

const Vector& Checked(const DeepGp& shape, const Matrix& y, const Vector& weights) {
  shape.likelihood->CheckTargets(shape.outputs(), y);
  return weights;
}

}  // namespace

AepEnergy::AepEnergy(const DeepGp& shape, const Moments& x, const Matrix& y,
                     const AepOptions& options, const ThreadPool& pool)
    : AepEnergy(shape, RowsHere(x, y, Checked(shape, y, options.weights)), options, pool) {}

AepEnergy::AepEnergy(DeepGp shape, std::unique_ptr<const RowSource> rows, AepOptions options,
                     const ThreadPool& pool)
    : shape_(std::move(shape)),
      rows_(std::move(rows)),
      options_(std::move(options)),
      pool_(pool),
      network_options_{.uncertain = rows_->facts().uncertain != 0,
                       .joint = shape_.full_covariance,
                       .precision = options_.precision},
      shares_(shape_, rows_->ranks()),
      num_parameters_(NumUnconstrained(shape_)) {
  const TableFacts& facts = rows_->facts();
  if (options_.N == 0) options_.N = facts.mean_weight * static_cast<double>(facts.rows);
  Require(options_.alpha >= 0 && options_.alpha <= options_.N, "alpha",
          "at least 0 and at most the number of rows, or the sum of their weights", options_.alpha);
  CheckNetwork(shape_, network_options_);
}

AepEnergy::~AepEnergy() {
  const Communicator& ranks = rows_->ranks();
  if (ranks.rank() != 0 || ranks.left()) return;
  try {
    Call end;
    ranks.Broadcast(std::span(&end, 1));
  } catch (const Error&) {
    ranks.Leave();
  }
}

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
  FATHOM_CHECK(rows_->ranks().size() == 1);  // the others would wait for a Call
  std::unique_ptr<Workspace> workspace = Borrow();
  if (gradient != nullptr) *gradient = model;
  Condition(model, workspace.get());
  Connect(model, d_x != nullptr, workspace.get());
  const EnergyParts parts = Energy(model, batch, {gradient, d_x}, workspace.get());
  Return(std::move(workspace));
  return parts;
}

void AepEnergy::Condition(const DeepGp& model, Workspace* workspace) const {
  workspace->gps.Prepare(model, {options_.alpha, options_.N}, pool_, shares_.mine());
}

void AepEnergy::Connect(const DeepGp& model, bool inputs, Workspace* workspace) const {
  ExchangeFunctions(model, shares_, &workspace->gps, &workspace->functions);
  NetworkOptions network_options = network_options_;
  network_options.inputs = inputs;
  workspace->network.Prepare(model, network_options, workspace->gps, pool_);
}

const Sums& AepEnergy::SumOverRows(const DeepGp& model, const Batch& batch, Want want,
                                   Workspace* workspace) const {
  const SlotPlan plan = PlanSlots(workspace->network, static_cast<Index>(batch.rows.size()));
  return SumLogZ(workspace->network,
                 {.alpha = options_.alpha,
                  .outer = options_.mixture ? 1 : options_.alpha,
                  .paths = TrainingPaths(model, options_.seed, batch.draw)},
                 rows_->Fetch(batch.rows, plan, &workspace->rows), want, {pool_, shares_},
                 &workspace->log_z);
}

double AepEnergy::ScaleOfSums(std::size_t rows) const {
  // For alpha = 0, log Z is already the limit of log Z / alpha.
  const double alpha = options_.alpha == 0 ? 1 : options_.alpha;
  return options_.N / (alpha * rows_->facts().mean_weight * static_cast<double>(rows));
}

void AepEnergy::Backward(const DeepGp& model, const Sums& sums, double scale, DeepGp* gradient,
                         Workspace* workspace) const {
  const Communicator& ranks = rows_->ranks();
  if (ranks.rank() != 0 && !shares_.shared()) return;
  const auto backward = [&] {
    workspace->network.Finish(sums, scale, pool_, &workspace->gps, gradient);
    workspace->gps.Backward(model, scale, pool_, gradient);
  };
  if (!shares_.shared()) return backward();
  DoTogether(ranks, backward);
  GatherGradient(shares_, workspace->gps, gradient, &workspace->functions);
}

// Of a model that is prepared.
EnergyParts AepEnergy::Energy(const DeepGp& model, const Batch& batch, const Gradient& gradient,
                              Workspace* workspace) const {
  const ConditionedModel& gps = workspace->gps;
  const Want want = gradient.inputs != nullptr  ? Want::kInputs
                    : gradient.model != nullptr ? Want::kGradient
                                                : Want::kValue;
  const Sums& sums = SumOverRows(model, batch, want, workspace);
  const double scale = ScaleOfSums(batch.rows.size());
  EnergyParts parts;
  parts.factors = gps.FactorEnergy();
  parts.sum_log_z = sums.log_z();
  parts.F = parts.factors + scale * sums.log_z();
  parts.largest_jitter = gps.LargestJitter();
  if (gradient.inputs != nullptr) {
    gradient.inputs->mean = scale * workspace->log_z.d_inputs.mean;
    gradient.inputs->var = scale * workspace->log_z.d_inputs.var;
  }
  if (gradient.model != nullptr) Backward(model, sums, scale, gradient.model, workspace);
  return parts;
}

// The energy at rank 0, of the model that the workspace then holds.
EnergyParts AepEnergy::CallAndEvaluate(const Vector& parameters, const Batch& batch,
                                       DeepGp* gradient, Workspace* workspace) const {
  const Communicator& ranks = rows_->ranks();
  if (ranks.size() > 1) {
    Call call{gradient != nullptr ? Call::kGradient : Call::kValue,
              static_cast<std::int64_t>(batch.rows.size()), batch.draw};
    ranks.Broadcast(std::span(&call, 1));
    Vector& message = workspace->message;
    message.resize(num_parameters_ + call.rows);
    message.head(num_parameters_) = parameters;
    std::ranges::copy(batch.rows, message.data() + num_parameters_);
    ranks.Broadcast(std::span(message.data(), static_cast<std::size_t>(message.size())));
  }
  DoTogether(ranks, [&] {
    Unpack(parameters, packing(), &workspace->model);
    Condition(workspace->model.model, workspace);
  });
  Connect(workspace->model.model, false, workspace);
  return Energy(workspace->model.model, batch, {.model = gradient}, workspace);
}

void AepEnergy::Help() const {
  const Communicator& ranks = rows_->ranks();
  Workspace workspace(shape_);
  Vector& message = workspace.message;
  Vector parameters;
  std::vector<Index> rows;
  for (;;) {
    Call call;
    ranks.Broadcast(std::span(&call, 1));
    if (call.kind == Call::kEnd) return;
    message.resize(num_parameters_ + call.rows);
    ranks.Broadcast(std::span(message.data(), static_cast<std::size_t>(message.size())));
    parameters = message.head(num_parameters_);
    rows.clear();
    for (const double row : message.tail(call.rows)) rows.push_back(static_cast<Index>(row));
    const DeepGp& model = workspace.model.model;
    const bool wants_gradient = call.kind == Call::kGradient;
    try {
      DoTogether(ranks, [&] {
        Unpack(parameters, packing(), &workspace.model);
        Condition(model, &workspace);
      });
      Connect(model, false, &workspace);
      const Sums& sums = SumOverRows(model, {rows, call.draw},
                                     wants_gradient ? Want::kGradient : Want::kValue, &workspace);
      if (wants_gradient) {
        Backward(model, sums, ScaleOfSums(rows.size()), &workspace.gradient.model, &workspace);
      }
    } catch (const NumericalError&) {  // rank 0 has it too, and says what follows
    }
  }
}

EnergyParts AepEnergy::EnergyAt(const Vector& parameters, const Batch& batch) const {
  std::unique_ptr<Workspace> workspace = Borrow();
  const EnergyParts parts = CallAndEvaluate(parameters, batch, nullptr, workspace.get());
  Return(std::move(workspace));
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
    DeepGp* const d_model = gradient != nullptr ? &workspace->gradient.model : nullptr;
    *value = -CallAndEvaluate(parameters, batch, d_model, workspace.get()).F / options_.N;
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
