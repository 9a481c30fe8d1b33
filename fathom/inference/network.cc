#include "fathom/inference/network.h"

#include <algorithm>

#include "fathom/base/error.h"

namespace fathom {

namespace {

void AddTo(AlignedBuffer* total, const AlignedBuffer& part) {
  Eigen::Map<Vector>(total->data(), static_cast<Index>(total->size())) +=
      Eigen::Map<const Vector>(part.data(), static_cast<Index>(part.size()));
}

}  // namespace

void Network::Sums::AddFunction(Index l, Index d, const Sums& other) {
  AddTo(&functions[l][d], other.functions[l][d]);
}

void Network::Sums::AddRest(const Sums& other) {
  log_z += other.log_z;
  for (std::size_t l = 0; l < noise.size(); ++l) noise[l] += other.noise[l];
  likelihood += other.likelihood;
  points += other.points;
  point_log_weights += other.point_log_weights;
}

void Network::Sums::Add(const Sums& other) {
  for (std::size_t l = 0; l < functions.size(); ++l) {
    for (std::size_t d = 0; d < functions[l].size(); ++d)
      AddFunction(static_cast<Index>(l), static_cast<Index>(d), other);
  }
  AddRest(other);
}

void Network::Attach(const DeepGp& model, const ProjectionOptions& options) {
  model_ = &model;
  options_ = options;
  const std::size_t layers = model.layers.size();
  gps_.resize(layers);
  projections_.resize(layers);
  mean_weights_.resize(layers);
  flat_.clear();
  for (std::size_t l = 0; l < layers; ++l) {
    const std::size_t outputs = model.layers[l].gps.size();
    gps_[l].resize(outputs);
    projections_[l].resize(outputs);
    mean_weights_[l].resize(outputs);
    for (std::size_t d = 0; d < outputs; ++d) flat_.emplace_back(l, d);
  }
}

// Sampled hidden units are certain; only raw inputs beside them may still have variance.
bool Network::Uncertain(Index l) const {
  const bool raw_inputs = l == 0 || model_->layers[l].skip;
  const bool hidden = l > 0 && model_->propagation == Propagation::kMoments;
  return hidden || (raw_inputs && options_.uncertain);
}

void Network::SetCavity(Index l, Index d, const Conditioned& cavity) {
  const GpLayer& layer = model_->layers[l];
  const SparseGp& gp = layer.gps[d];
  std::unique_ptr<Projection>& projection = projections_[l][d];
  if (!projection) projection = gp.kernel->NewProjection();
  Vector& w = mean_weights_[l][d];
  if (layer.mean_weights.size() > 0) w = layer.mean_weights.col(d);
  ProjectionOptions own = options_;
  own.uncertain = Uncertain(l);
  projection->Prepare({gp.theta, gp.Z, cavity.a, cavity.S, w}, own);
}

void Network::Prepare(const DeepGp& model, const Cavity& cavity, const ProjectionOptions& options,
                      const ThreadPool& pool) {
  Attach(model, options);
  cavity_ = cavity;
  const auto prepare = [&](Index job) {
    const auto [l, d] = flat_[job];
    fathom::Prepare(model.layers[l].gps[d], cavity_, model.jitter, &gps_[l][d]);
    SetCavity(l, d, gps_[l][d].cavity);
  };
  pool.Run(static_cast<Index>(flat_.size()), prepare);
}

double Network::FactorEnergy() const {
  double energy = 0;
  for (const auto& layer : gps_) {
    for (const PreparedGp& gp : layer) energy += gp.energy;
  }
  return energy;
}

double Network::LargestJitter() const {
  double jitter = 0;
  for (const auto& layer : gps_) {
    for (const PreparedGp& gp : layer) jitter = std::max(jitter, gp.jitter);
  }
  return jitter;
}

void Network::Reserve(Index l, Index rows, LayerTape* tape) const {
  const GpLayer& layer = model_->layers[l];
  const Index inputs = layer.inputs();
  const Index outputs = layer.outputs();
  tape->input.Resize(rows, inputs);
  tape->d_input.Resize(rows, inputs);
  tape->latent_var.resize(rows, outputs);
  tape->m.resize(rows);
  tape->v.resize(rows);
  tape->functions.resize(outputs);
  for (Index d = 0; d < outputs; ++d) {
    AlignedBuffer& memory = tape->functions[d];
    const auto needed = static_cast<std::size_t>(projections_[l][d]->TapeSize(rows));
    if (memory.size() < needed) memory.resize(needed);
  }
}

void Network::Forward(Index l, const Moments& below, const Moments& raw, LayerTape* tape,
                      Moments* out) const {
  const GpLayer& layer = model_->layers[l];
  const Index rows = below.rows();
  const Index outputs = layer.outputs();
  Reserve(l, rows, tape);
  Moments& input = tape->input;
  if (layer.skip) {
    input.mean << below.mean, raw.mean;
    input.var << below.var, raw.var;
  } else {
    input = below;
  }
  out->Resize(rows, outputs);
  for (Index d = 0; d < outputs; ++d) {
    const Projection& projection = *projections_[l][d];
    projection.Forward(input.mean, input.var, tape->functions[d].data(), tape->m.data(),
                       tape->v.data());
    out->mean.col(d) = tape->m;
    tape->latent_var.col(d) = tape->v;
  }
  // Rounding may leave a variance slightly below zero where the function is pinned down. NaN stays
  // NaN: it must be noticed.
  out->var = tape->latent_var.unaryExpr([](double v) { return v < 0 ? 0.0 : v; });
  if (layer.noise_variance.size() > 0) out->var.rowwise() += layer.noise_variance.transpose();
}

void Network::Backward(Index l, const Moments& d_out, LayerTape* tape, Sums* sums,
                       Moments* d_below) const {
  const GpLayer& layer = model_->layers[l];
  const Moments& input = tape->input;
  const Index rows = input.rows();
  if (layer.noise_variance.size() > 0) sums->noise[l] += d_out.var.colwise().sum().transpose();
  Moments& d_input = tape->d_input;
  if (d_below != nullptr) d_input.SetZero(rows, input.cols());
  for (Index d = 0; d < layer.outputs(); ++d) {
    tape->m = d_out.mean.col(d);
    tape->v = (tape->latent_var.col(d).array() < 0).select(0.0, d_out.var.col(d));
    double* function_sums = sums->functions[l][d].data();
    if (d_below == nullptr) {
      projections_[l][d]->Backward(input.mean, input.var, tape->functions[d].data(), tape->m.data(),
                                   tape->v.data(), function_sums, nullptr, nullptr);
    } else {
      Eigen::Ref<Matrix> d_mean(d_input.mean);
      Eigen::Ref<Matrix> d_var(d_input.var);
      projections_[l][d]->Backward(input.mean, input.var, tape->functions[d].data(), tape->m.data(),
                                   tape->v.data(), function_sums, &d_mean, &d_var);
    }
  }
  if (d_below == nullptr) return;
  // The raw inputs of skip links are data; their gradient ends here.
  const Index hidden = l == 0 ? input.cols() : model_->layers[l - 1].outputs();
  d_below->mean = d_input.mean.leftCols(hidden);
  d_below->var = d_input.var.leftCols(hidden);
}

void Network::ResetSums(Sums* sums) const {
  const std::size_t layers = model_->layers.size();
  sums->log_z = 0;
  sums->functions.resize(layers);
  sums->noise.resize(layers);
  for (std::size_t l = 0; l < layers; ++l) {
    const std::size_t outputs = projections_[l].size();
    sums->functions[l].resize(outputs);
    for (std::size_t d = 0; d < outputs; ++d) {
      if (!projections_[l][d]) continue;  // attached only, and not passed through
      sums->functions[l][d].assign(static_cast<std::size_t>(projections_[l][d]->SumsSize()), 0.0);
    }
    sums->noise[l].setZero(model_->layers[l].noise_variance.size());
  }
  sums->likelihood.setZero(model_->likelihood_parameters.size());
  sums->points.setZero(model_->points.rows(), model_->points.cols());
  sums->point_log_weights.setZero(model_->point_weights.size());
}

Index Network::SumsBytes() const {
  Index doubles = 0;
  for (const auto& layer : projections_) {
    for (const auto& projection : layer) doubles += projection->SumsSize();
  }
  return doubles * static_cast<Index>(sizeof(double));
}

void Network::AddToFirst(std::span<Sums> sums, const ThreadPool& pool) const {
  pool.Run(static_cast<Index>(flat_.size()), [&](Index job) {
    const auto [l, d] = flat_[job];
    for (const Sums& part : sums.subspan(1)) sums[0].AddFunction(l, d, part);
  });
  for (const Sums& part : sums.subspan(1)) sums[0].AddRest(part);
}

void Network::FinishFunction(Index l, Index d, const Sums& sums,
                             LatentFunctionGradient gradient) const {
  projections_[l][d]->Finish(sums.functions[l][d].data(), gradient);
}

void Network::Finish(const Sums& sums, double scale, const ThreadPool& pool, DeepGp* gradient,
                     Index first_other, const FinishLayer& other) {
  const auto finish_rows = [&](Index job) {
    const auto [l, d] = flat_[job];
    SparseGp& d_gp = gradient->layers[l].gps[d];
    Conditioned& d_cavity = gps_[l][d].d_cavity;
    d_gp.SetZero();
    d_cavity.SetZero(d_gp.num_inducing());
    if (l < first_other) FinishFunction(l, d, sums, {d_gp.theta, d_gp.Z, d_cavity.a, d_cavity.S});
  };
  pool.Run(static_cast<Index>(flat_.size()), finish_rows);
  for (Index l = first_other; l < model_->num_layers(); ++l) {
    std::vector<LatentFunctionGradient> gradients;
    for (std::size_t d = 0; d < gps_[l].size(); ++d) {
      SparseGp& d_gp = gradient->layers[l].gps[d];
      Conditioned& d_cavity = gps_[l][d].d_cavity;
      gradients.push_back({d_gp.theta, d_gp.Z, d_cavity.a, d_cavity.S});
    }
    other(l, &gradients);
  }
  const auto finish_posterior = [&](Index job) {
    const auto [l, d] = flat_[job];
    SparseGp& d_gp = gradient->layers[l].gps[d];
    PreparedGp& prepared = gps_[l][d];
    d_gp.theta *= scale;
    d_gp.Z *= scale;
    prepared.d_cavity.a *= scale;
    prepared.d_cavity.S *= scale;
    PrepareBackward(model_->layers[l].gps[d], cavity_, &prepared, &d_gp);
  };
  pool.Run(static_cast<Index>(flat_.size()), finish_posterior);
  for (std::size_t l = 0; l < gradient->layers.size(); ++l) {
    gradient->layers[l].noise_variance = scale * sums.noise[l];
  }
  gradient->likelihood_parameters = scale * sums.likelihood;
  gradient->points = scale * sums.points;
  // The weights enter as log w_s - log sum w; the sums already know the second part.
  gradient->point_weights = scale * sums.point_log_weights.cwiseQuotient(model_->point_weights);
}

}  // namespace fathom
