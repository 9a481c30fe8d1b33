#include "fathom/inference/full_covariance.h"

#include <algorithm>

#include "fathom/base/error.h"

namespace fathom {

void CheckFullCovariance(const DeepGp& model, bool uncertain_inputs) {
  for (Index l = uncertain_inputs ? 0 : 1; l < model.num_layers(); ++l) {
    const std::string first = model.layers[l].gps[0].kernel->Name();
    for (const SparseGp& gp : model.layers[l].gps) {
      if (gp.kernel->NewFullLayer() == nullptr) {
        ThrowError(
            "full covariances need a kernel such as 'se_ard' in layers with uncertain inputs, "
            "not '",
            gp.kernel->Name(), "'; use the diagonal propagation");
      }
      if (gp.kernel->Name() != first) {
        ThrowError("full covariances need one kernel for all functions of a layer, not '", first,
                   "' and '", gp.kernel->Name(), "'; use the diagonal propagation");
      }
    }
  }
}

void FullLayers::Sums::Add(const Sums& other) {
  network.Add(other.network);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (layers[l]) layers[l]->Add(*other.layers[l]);
  }
}

void FullLayers::Prepare(const Network& network, bool uncertain_inputs) {
  network_ = &network;
  const DeepGp& model = network.model();
  CheckFullCovariance(model, uncertain_inputs);
  first_ = uncertain_inputs ? 0 : 1;
  layers_.resize(model.layers.size());
  for (Index l = first_; l < model.num_layers(); ++l) {
    const GpLayer& layer = model.layers[l];
    std::vector<Vector> means;  // the functions refer to them
    for (Index d = 0; d < layer.outputs(); ++d)
      means.push_back(layer.mean_weights.size() > 0 ? Vector(layer.mean_weights.col(d)) : Vector());
    std::vector<LatentFunction> functions;
    for (Index d = 0; d < layer.outputs(); ++d) {
      const SparseGp& gp = layer.gps[d];
      const Conditioned& cavity = network.prepared(l, d).cavity;
      functions.push_back({gp.theta, gp.Z, cavity.a, cavity.S, means[d]});
    }
    if (!layers_[l]) layers_[l] = layer.gps[0].kernel->NewFullLayer();
    layers_[l]->Prepare(functions);
  }
}

FullMoments FullLayers::InputOf(Index l, const FullMoments& below, const Moments& raw) const {
  if (!network_->model().layers[l].skip) return below;
  const Index hidden = below.cols();
  FullMoments input;
  input.SetZero(below.rows(), hidden + raw.cols());
  input.mean << below.mean, raw.mean;
  for (Index n = 0; n < below.rows(); ++n) {
    input.cov[n].topLeftCorner(hidden, hidden) = below.cov[n];
    input.cov[n].diagonal().tail(raw.cols()) = raw.var.row(n).transpose();
  }
  return input;
}

std::vector<FullMoments> FullLayers::Forward(const Moments& x) const {
  const DeepGp& model = network_->model();
  std::vector<FullMoments> outputs(model.layers.size());
  if (first_ == 1) {
    Network::LayerTape tape;
    Moments hidden;
    network_->Forward(0, x, x, &tape, &hidden);
    outputs[0] = FullMoments::FromDiagonal(hidden);
  }
  const FullMoments raw = FullMoments::FromDiagonal(x);
  for (Index l = first_; l < model.num_layers(); ++l) {
    layers_[l]->Forward(l == 0 ? raw : InputOf(l, outputs[l - 1], x), &outputs[l]);
    const Vector& noise = model.layers[l].noise_variance;
    if (noise.size() == 0) continue;
    for (Matrix& cov : outputs[l].cov) cov.diagonal() += noise;
  }
  return outputs;
}

void FullLayers::ChunkUpAndDown(double alpha, const Moments& x, const Matrix& y,
                                const Vector& weights, std::span<const Index> rows,
                                Sums* sums) const {
  const DeepGp& model = network_->model();
  const auto count = static_cast<Index>(rows.size());
  Moments raw(count, x.cols());
  for (Index n = 0; n < count; ++n) {
    raw.mean.row(n) = x.mean.row(rows[n]);
    raw.var.row(n) = x.var.row(rows[n]);
  }
  const std::vector<FullMoments> outputs = Forward(raw);
  const FullMoments& f = outputs.back();
  FullMoments d_out;
  d_out.SetZero(count, f.cols());
  Vector d_mean(f.cols());
  Vector d_likelihood(sums->network.likelihood.size());
  for (Index n = 0; n < count; ++n) {
    const double weight = weights.size() == 0 ? 1 : weights[rows[n]];
    d_likelihood.setZero();
    sums->network.log_z +=
        weight * model.likelihood->LogZFull(model.likelihood_parameters, alpha,
                                            y.row(rows[n]).data(), f.mean.row(n).transpose(),
                                            f.cov[n], &d_mean, &d_out.cov[n], d_likelihood.data());
    d_out.mean.row(n) = weight * d_mean.transpose();
    d_out.cov[n] *= weight;
    sums->network.likelihood += weight * d_likelihood;
  }
  for (Index l = model.num_layers() - 1; l >= first_; --l) {
    if (model.layers[l].noise_variance.size() > 0) {
      for (const Matrix& d_cov : d_out.cov) sums->network.noise[l] += d_cov.diagonal();
    }
    FullMoments d_input;
    if (l == 0) {
      layers_[0]->Backward(FullMoments::FromDiagonal(raw), d_out, sums->layers[0].get(), nullptr);
      return;
    }
    layers_[l]->Backward(InputOf(l, outputs[l - 1], raw), d_out, sums->layers[l].get(), &d_input);
    const Index hidden = outputs[l - 1].cols();
    d_out.SetZero(count, hidden);
    d_out.mean = d_input.mean.leftCols(hidden);
    for (Index n = 0; n < count; ++n) d_out.cov[n] = d_input.cov[n].topLeftCorner(hidden, hidden);
  }
  // The diagonal first layer, up again for its tape.
  Network::LayerTape tape;
  Moments hidden;
  network_->Forward(0, raw, raw, &tape, &hidden);
  network_->Backward(0, d_out.Diagonal(), &tape, &sums->network, nullptr);
}

FullLayers::Sums FullLayers::SumLogZ(double alpha, const Moments& x, const Matrix& y,
                                     const Vector& weights, std::span<const Index> rows,
                                     const ThreadPool& pool) const {
  constexpr Index kRows = 16;
  const auto count = static_cast<Index>(rows.size());
  const Index chunks = (count + kRows - 1) / kRows;
  // As in SumLogZ: the grouping depends on the rows alone.
  const Index slots = std::clamp<Index>(chunks, 1, 16);
  std::vector<Sums> sums(static_cast<std::size_t>(slots));
  pool.Run(slots, [&](Index slot) {
    network_->ResetSums(&sums[slot].network);
    sums[slot].layers.resize(layers_.size());
    for (std::size_t l = first_; l < layers_.size(); ++l)
      sums[slot].layers[l] = layers_[l]->NewSums();
    for (Index c = slot; c < chunks; c += slots) {
      const Index begin = c * kRows;
      ChunkUpAndDown(alpha, x, y, weights, rows.subspan(begin, std::min(kRows, count - begin)),
                     &sums[slot]);
    }
  });
  for (Index slot = 1; slot < slots; ++slot) sums[0].Add(sums[slot]);
  return std::move(sums[0]);
}

void FullLayers::Finish(Index layer, const Sums& sums,
                        std::vector<LatentFunctionGradient>* gradients) const {
  layers_[layer]->Finish(*sums.layers[layer], gradients);
}

}  // namespace fathom
