#include "fathom/model/deep_gp.h"

#include <cmath>

#include "fathom/base/error.h"

namespace fathom {

namespace {

void CheckArray(const ParameterArray& array) {
  for (Index i = 0; i < array.size; ++i) {
    const double value = array.data[i];
    if (!std::isfinite(value))
      ThrowError("parameter ", array.name, " holds ", value, ", which is not a finite number");
    const bool must_be_positive =
        array.kind == ParameterKind::kPositive || array.kind == ParameterKind::kNoise;
    if (must_be_positive && value <= 0)
      ThrowError("parameter ", array.name, " holds ", value, " but must be positive");
    if (array.kind == ParameterKind::kLowerTriangle) {
      const Index M = array.shape[1];
      const Index row = i / M;
      const Index col = i % M;
      if (col > row && value != 0)
        ThrowError("parameter ", array.name, " must be lower triangular");
    }
  }
}

void CheckPropagation(const DeepGp& model) {
  const bool points = model.propagation == Propagation::kPoints;
  const bool samples = model.propagation == Propagation::kSamples;
  if (samples ? model.samples < 1 : model.samples != 0)
    ThrowError("the model has ", model.samples, " paths per row");
  if (model.full_covariance && (points || samples))
    ThrowError("full covariances are of moments; the model propagates paths");
  const Index paths = model.points.rows();
  if (points ? paths < 1 || model.points.cols() != model.num_hidden_units() : paths != 0)
    ThrowError("the model's points have the wrong shape");
  if (model.point_weights.size() != paths)
    ThrowError("the model has ", paths, " points and ", model.point_weights.size(), " weights");
  if (!std::isfinite(model.point_weights.sum()))
    ThrowError("the weights of the model's points have no finite sum");
}

}  // namespace

Index DeepGp::first_unit(Index layer) const {
  Index units = 0;
  for (Index l = 0; l < layer; ++l) units += layers[l].outputs();
  return units;
}

DeepGp DeepGp::ZeroLike() const {
  DeepGp zero = *this;
  for (GpLayer& layer : zero.layers) {
    for (SparseGp& gp : layer.gps) gp.SetZero();
    layer.noise_variance.setZero();
  }
  zero.likelihood_parameters.setZero();
  zero.points.setZero();
  zero.point_weights.setZero();
  return zero;
}

void CheckModel(const DeepGp& model) {
  if (model.layers.empty()) ThrowError("the model has no layers");
  if (!model.likelihood) ThrowError("the model has no likelihood");
  for (Index l = 0; l < model.num_layers(); ++l) {
    if (model.layers[l].gps.empty()) ThrowError("layer ", l, " has no functions");
  }
  const Index raw_inputs = model.input_dim();
  for (Index l = 0; l < model.num_layers(); ++l) {
    const GpLayer& layer = model.layers[l];
    const bool hidden = l + 1 < model.num_layers();
    const Index below = l == 0 ? raw_inputs : model.layers[l - 1].outputs();
    const Index inputs = below + (layer.skip && l > 0 ? raw_inputs : 0);
    if (layer.skip && l == 0) ThrowError("the first layer cannot have skip links");
    for (const SparseGp& gp : layer.gps) {
      if (!gp.kernel) ThrowError("layer ", l, " has a function without a kernel");
      const Index M = gp.num_inducing();
      if (M < 1) ThrowError("layer ", l, " has a function without pseudo-inputs");
      if (gp.input_dim() != inputs) {
        ThrowError("layer ", l, " has pseudo-inputs of dimension ", gp.input_dim(), " where ",
                   inputs, " is needed");
      }
      if (gp.theta.size() != gp.kernel->NumParameters(inputs)) {
        ThrowError("layer ", l, " has ", gp.theta.size(), " kernel parameters where ",
                   gp.kernel->NumParameters(inputs), " are needed");
      }
      const auto fits = [M](const Vector& location, const Matrix& factor) {
        return location.size() == M && factor.rows() == M && factor.cols() == M;
      };
      const bool posterior_fits =
          std::holds_alternative<Sites>(gp.posterior)
              ? fits(std::get<Sites>(gp.posterior).h, std::get<Sites>(gp.posterior).R)
              : fits(std::get<Whitened>(gp.posterior).mu, std::get<Whitened>(gp.posterior).Delta);
      if (!posterior_fits)
        ThrowError("layer ", l, " has a posterior whose size is not that of its pseudo-inputs");
      const auto* whitened = std::get_if<Whitened>(&gp.posterior);
      if (whitened != nullptr && !(whitened->Delta.diagonal().array() > 0).all())
        ThrowError("layer ", l, " has a posterior factor whose diagonal is not positive");
    }
    if (layer.noise_variance.size() != (hidden ? layer.outputs() : 0)) {
      ThrowError("layer ", l, " has ", layer.noise_variance.size(), " noise variances");
    }
    if (layer.mean_weights.size() != 0 &&
        (layer.mean_weights.rows() != inputs || layer.mean_weights.cols() != layer.outputs())) {
      ThrowError("layer ", l, " has a linear mean of the wrong shape");
    }
    if (!layer.mean_weights.allFinite())
      ThrowError("layer ", l, " has a linear mean that is not finite");
  }
  if (model.likelihood_parameters.size() != model.likelihood->NumParameters(model.outputs())) {
    ThrowError("the likelihood has ", model.likelihood_parameters.size(), " parameters where ",
               model.likelihood->NumParameters(model.outputs()), " are needed");
  }
  CheckPropagation(model);
  if (!(model.jitter >= 0 && model.jitter <= 1e-2))
    ThrowError("jitter must be in [0, 1e-2], not ", model.jitter);
  DeepGp copy = model;  // Parameters() hands out writable arrays
  for (const ParameterArray& array : Parameters(&copy)) CheckArray(array);
}

std::vector<ParameterArray> Parameters(DeepGp* model) {
  std::vector<ParameterArray> arrays;
  const auto add_vector = [&](std::string name, ParameterKind kind, Vector* v) {
    arrays.push_back({std::move(name), kind, {v->size()}, v->data(), v->size()});
  };
  const auto add_matrix = [&](std::string name, ParameterKind kind, Matrix* m) {
    arrays.push_back({std::move(name), kind, {m->rows(), m->cols()}, m->data(), m->size()});
  };
  for (std::size_t l = 0; l < model->layers.size(); ++l) {
    GpLayer& layer = model->layers[l];
    const std::string layer_name = "layers." + std::to_string(l);
    for (std::size_t d = 0; d < layer.gps.size(); ++d) {
      SparseGp& gp = layer.gps[d];
      const std::string name = layer_name + ".gps." + std::to_string(d);
      if (!layer.shared || d == 0) {
        add_vector(name + ".theta", ParameterKind::kPositive, &gp.theta);
        add_matrix(name + ".Z", ParameterKind::kFree, &gp.Z);
      }
      if (auto* sites = std::get_if<Sites>(&gp.posterior)) {
        add_vector(name + ".sites.h", ParameterKind::kFree, &sites->h);
        add_matrix(name + ".sites.R", ParameterKind::kLowerTriangle, &sites->R);
      } else {
        auto& whitened = std::get<Whitened>(gp.posterior);
        add_vector(name + ".whitened.mu", ParameterKind::kFree, &whitened.mu);
        add_matrix(name + ".whitened.Delta", ParameterKind::kLowerTriangle, &whitened.Delta);
      }
      arrays.back().posterior = arrays[arrays.size() - 2].posterior = true;
    }
    if (layer.noise_variance.size() > 0) {
      add_vector(layer_name + ".noise_variance", ParameterKind::kNoise, &layer.noise_variance);
    }
  }
  if (model->likelihood_parameters.size() > 0) {
    add_vector("likelihood.parameters", ParameterKind::kNoise, &model->likelihood_parameters);
  }
  if (model->points.size() > 0) {
    add_matrix("paths.points", ParameterKind::kFree, &model->points);
    add_vector("paths.weights", ParameterKind::kPositive, &model->point_weights);
  }
  return arrays;
}

void SpreadShared(DeepGp* model) {
  for (GpLayer& layer : model->layers) {
    if (!layer.shared) continue;
    for (std::size_t d = 1; d < layer.gps.size(); ++d) {
      layer.gps[d].theta = layer.gps[0].theta;
      layer.gps[d].Z = layer.gps[0].Z;
    }
  }
}

void GatherShared(DeepGp* gradient) {
  for (GpLayer& layer : gradient->layers) {
    if (!layer.shared) continue;
    for (std::size_t d = 1; d < layer.gps.size(); ++d) {
      layer.gps[0].theta += layer.gps[d].theta;
      layer.gps[0].Z += layer.gps[d].Z;
      layer.gps[d].theta.setZero();
      layer.gps[d].Z.setZero();
    }
  }
}

}  // namespace fathom
