#include "fathom/inference/factor_inference.h"

#include <algorithm>
#include <cmath>

#include "fathom/base/error.h"

namespace fathom {

FactorInference::FactorInference(DeepGp start, const Moments& x, const Matrix& y,
                                 FactorOptions options, const ThreadPool& pool)
    : shape_(std::move(start)),
      x_(x),
      y_(y),
      options_(std::move(options)),
      pool_(pool),
      weights_(options_.weights.size() > 0 ? options_.weights : Vector(Vector::Ones(x.rows()))),
      N_(weights_.sum()),
      uncertain_inputs_((x.var.array() != 0).any()),
      first_dense_(uncertain_inputs_ ? 0 : 1),
      num_parameters_(NumUnconstrained(shape_, packing())) {
  Require(options_.alpha >= 0 && options_.alpha <= 1, "alpha", "between 0 and 1", options_.alpha);
  Require(options_.step >= 0 && options_.step <= 1, "step", "between 0 and 1", options_.step);
  if (options_.step == 0) options_.step = shape_.num_layers() == 1 ? 1 : 0.5;
  FATHOM_CHECK(x.rows() == y.rows() && x.rows() > 0);
  FATHOM_CHECK(weights_.size() == x.rows() && weights_.minCoeff() > 0);
  shape_.likelihood->CheckTargets(shape_.outputs(), y);
  for (const GpLayer& layer : shape_.layers) {
    for (const SparseGp& gp : layer.gps)
      FATHOM_CHECK(std::holds_alternative<Whitened>(gp.posterior));
  }
}

FactorInference::Point FactorInference::At(const Vector& parameters) const {
  FATHOM_CHECK(parameters.size() == num_parameters_);
  if (!parameters.allFinite()) throw NumericalError("a parameter is not finite");
  Point point{shape_, {}};
  Unpack(parameters, packing(), &point.model);
  for (const GpLayer& layer : point.model.layers) point.grams.emplace_back(layer.gps.size());
  ForFunctions(0, [&](Index l, Index d) {
    const SparseGp& gp = point.model.layers[l].gps[d];
    Gram& gram = point.grams[l][d];
    gp.kernel->Gram(gp.theta, gp.Z, &gram.K);
    Matrix L;
    Matrix scratch;
    gram.jitter = FactorGram(gram.K, point.model.jitter, &L, &scratch, &gram.L_inverse);
  });
  return point;
}

bool FactorInference::EvaluateSafely(
    const std::function<std::pair<double, DeepGp>(DeepGp*)>& energy, double* value,
    Vector* gradient, std::string* reason) const {
  DeepGp d_model;
  try {
    const auto [F, model] = energy(gradient != nullptr ? &d_model : nullptr);
    *value = -F / N_;
    if (!std::isfinite(F)) {
      *reason = "the energy is not finite";
      return false;
    }
    if (gradient == nullptr) return true;
    gradient->resize(num_parameters_);
    PackGradient(model, packing(), &d_model, gradient);
    *gradient *= -1 / N_;
    if (gradient->allFinite()) return true;
    *reason = "the gradient of the energy is not finite";
  } catch (const NumericalError& error) {
    *reason = error.what();
  }
  return false;
}

void FactorInference::ForFunctions(Index first,
                                   const std::function<void(Index, Index)>& job) const {
  std::vector<std::pair<Index, Index>> flat;
  for (Index l = first; l < shape_.num_layers(); ++l) {
    for (Index d = 0; d < shape_.layers[l].outputs(); ++d) flat.emplace_back(l, d);
  }
  pool_.Run(static_cast<Index>(flat.size()), [&](Index i) { job(flat[i].first, flat[i].second); });
}

void FactorInference::ProjectFirstLayer(const Point& point, std::span<const Index> rows,
                                        CertainLayer* out) const {
  const auto count = static_cast<Index>(rows.size());
  out->x.resize(count, x_.cols());
  for (Index i = 0; i < count; ++i) out->x.row(i) = x_.mean.row(rows[i]);
  const GpLayer& layer = point.model.layers[0];
  out->rows.resize(layer.gps.size());
  out->moments.resize(layer.gps.size());
  pool_.Run(layer.outputs(), [&](Index d) {
    out->rows[d] = ProjectCertain({layer.gps[d], point.grams[0][d].L_inverse, out->x});
  });
}

void FactorInference::ObserveFirstLayer(const DeepGp& model, CertainLayer* first) const {
  const GpLayer& layer = model.layers[0];
  const Index rows = first->x.rows();
  first->out = Moments(rows, layer.outputs());
  first->d_out.SetZero(rows, layer.outputs());
  for (Index d = 0; d < layer.outputs(); ++d) {
    first->out.mean.col(d) = first->moments[d].t;
    first->out.var.col(d) = first->moments[d].s + first->rows[d].spread;
  }
  if (layer.mean_weights.size() > 0) first->out.mean += first->x * layer.mean_weights;
  if (layer.noise_variance.size() > 0) first->out.var.rowwise() += layer.noise_variance.transpose();
}

Moments FactorInference::RawRow(Index n) const { return {x_.mean.row(n), x_.var.row(n)}; }

double FactorInference::LargestJitter(const Vector& parameters) const {
  double jitter = 0;
  for (const auto& layer : At(parameters).grams) {
    for (const Gram& gram : layer) jitter = std::max(jitter, gram.jitter);
  }
  return jitter;
}

std::string FactorInference::StateName(Index layer, Index function) {
  return std::to_string(layer) + "." + std::to_string(function);
}

const Matrix& FactorInference::StateArray(const State& state, const std::string& name, Index rows,
                                          Index cols) {
  const auto found = state.find(name);
  if (found == state.end() || found->second.rows() != rows || found->second.cols() != cols ||
      !found->second.allFinite()) {
    ThrowError("the factors '", name, "' of the training are missing or do not fit the table");
  }
  return found->second;
}

}  // namespace fathom
