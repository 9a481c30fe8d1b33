#include "fathom/inference/network.h"

#include <algorithm>
#include <utility>

#include "fathom/base/error.h"

namespace fathom {

void CheckNetwork(const DeepGp& model, const NetworkOptions& options) {
  if (options.joint) CheckFullCovariance(model, options.uncertain || options.inputs);
}

// Sampled hidden units are certain; only raw inputs beside them may still have variance.
bool Network::Uncertain(Index l) const {
  const bool raw_inputs = l == 0 || model_->layers[l].skip;
  const bool hidden = l > 0 && model_->propagation == Propagation::kMoments;
  return hidden || (raw_inputs && options_.uncertain);
}

void Network::Reset(const DeepGp& model, const NetworkOptions& options) {
  model_ = &model;
  options_ = options;
  layers_.resize(model.layers.size());
  flat_.clear();
  // Where covariances are handed on, only layer 0 under certain inputs can do without them.
  const Index first_joint = !options.joint                        ? model.num_layers()
                            : options.uncertain || options.inputs ? 0
                                                                  : 1;
  for (Index l = 0; l < model.num_layers(); ++l) {
    if (l >= first_joint) {
      if (!std::holds_alternative<JointLayer>(layers_[l])) layers_[l].emplace<JointLayer>();
      continue;
    }
    if (!std::holds_alternative<DiagonalLayer>(layers_[l])) layers_[l].emplace<DiagonalLayer>();
    std::get<DiagonalLayer>(layers_[l])
        .Reset(model.layers[l], l,
               {.uncertain = Uncertain(l),
                .backward = options.backward,
                .variance = options.variance || l + 1 < model.num_layers(),
                .precision = options.precision});
    for (Index d = 0; d < model.layers[l].outputs(); ++d) flat_.emplace_back(l, d);
  }
}

void Network::Set(Index layer, Index function, const Conditioned& conditioned) {
  std::get<DiagonalLayer>(layers_[layer]).Set(function, conditioned);
}

void Network::Prepare(const DeepGp& model, const NetworkOptions& options,
                      const ConditionedModel& gps, const ThreadPool& pool) {
  CheckNetwork(model, options);
  Reset(model, options);
  pool.Run(static_cast<Index>(flat_.size()), [&](Index job) {
    const auto [l, d] = flat_[job];
    Set(l, d, gps.at(l, d));
  });
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    if (auto* joint = std::get_if<JointLayer>(&layers_[l]))
      joint->Prepare(model, static_cast<Index>(l), gps);
  }
}

void Network::Reserve(Index l, Index rows, LayerTape* tape) const {
  if (const auto* layer = std::get_if<DiagonalLayer>(&layers_[l]))
    layer->Reserve(rows, &tape->diagonal);
}

void Network::Forward(Index l, const Handed& below, const Moments& raw, LayerTape* tape,
                      Handed* out) const {
  if (const auto* layer = std::get_if<JointLayer>(&layers_[l])) {
    layer->Forward(l == 0 ? FullMoments::FromDiagonal(below.moments) : below.joint, raw,
                   &tape->joint, &out->joint);
    return;
  }
  diagonal(l).Forward(below.moments, raw, &tape->diagonal, &out->moments);
  if (options_.joint) out->joint = FullMoments::FromDiagonal(out->moments);
}

namespace {

// Splits the gradient with respect to a layer's whole input [hidden units below, raw inputs].
void Split(const Moments& d_input, Index below, const Network::InputGradient& out) {
  if (out.below != nullptr) {
    out.below->moments.mean = d_input.mean.leftCols(below);
    out.below->moments.var = d_input.var.leftCols(below);
  }
  if (out.raw == nullptr || d_input.cols() == below) return;
  out.raw->mean += d_input.mean.rightCols(d_input.cols() - below);
  out.raw->var += d_input.var.rightCols(d_input.cols() - below);
}

void Split(const FullMoments& d_input, Index below, const Network::InputGradient& out) {
  if (out.below != nullptr) {
    out.below->joint.SetZero(d_input.rows(), below);
    out.below->joint.mean = d_input.mean.leftCols(below);
    for (Index n = 0; n < d_input.rows(); ++n)
      out.below->joint.cov[n] = d_input.cov[n].topLeftCorner(below, below);
  }
  const Index raw = d_input.cols() - below;
  if (out.raw == nullptr || raw == 0) return;
  out.raw->mean += d_input.mean.rightCols(raw);
  for (Index n = 0; n < d_input.rows(); ++n)
    out.raw->var.row(n) += d_input.cov[n].diagonal().tail(raw).transpose();
}

}  // namespace

void Network::Backward(Index l, const Handed& d_out, const InputGradient& d_input, LayerTape* tape,
                       Sums* sums) const {
  const GpLayer& layer = model_->layers[l];
  const Index below = layer.skip ? model_->layers[l - 1].outputs() : layer.inputs();
  const bool wanted = d_input.below != nullptr || (d_input.raw != nullptr && layer.skip);
  if (const auto* joint = std::get_if<JointLayer>(&layers_[l])) {
    joint->Backward(d_out.joint, wanted, &tape->joint, sums);
    if (!wanted) return;
    Split(tape->joint.d_input, below, d_input);
    if (l == 0) d_input.below->moments = d_input.below->joint.Diagonal();
    return;
  }
  using Wanted = DiagonalLayer::Wanted;
  const Wanted slopes = !wanted ? Wanted::kNone : d_input.var ? Wanted::kMeanAndVar : Wanted::kMean;
  if (options_.joint) {
    diagonal(l).Backward(d_out.joint.Diagonal(), slopes, &tape->diagonal, sums);
  } else {
    diagonal(l).Backward(d_out.moments, slopes, &tape->diagonal, sums);
  }
  if (wanted) Split(tape->diagonal.d_input, below, d_input);
}

void Network::ResetSums(Sums* sums) const {
  // What belongs to no function comes first: ranks that share the functions divide the rest.
  Sums::Layout& layout = sums->layout;
  layout.size = kSimdPadding;
  layout.functions.resize(layers_.size());
  layout.noise.clear();
  for (const GpLayer& layer : model_->layers)
    layout.noise.push_back(layout.Take(layer.noise_variance.size()));
  layout.likelihood = layout.Take(model_->likelihood_parameters.size());
  layout.points = layout.Take(model_->points.rows(), model_->points.cols());
  layout.point_log_weights = layout.Take(model_->point_weights.size());
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    std::vector<Sums::Part>& functions = layout.functions[l];
    if (const auto* joint = std::get_if<JointLayer>(&layers_[l])) {
      functions.resize(1);
      functions[0] = layout.Take(joint->SumsSize());
    } else {
      functions.resize(model_->layers[l].gps.size());
      for (std::size_t d = 0; d < functions.size(); ++d) {
        functions[d] = layout.Take(diagonal(static_cast<Index>(l)).SumsSize(static_cast<Index>(d)));
      }
    }
  }
  sums->SetZero();
}

Index Network::SumsBytes() const {
  Index doubles = 0;
  for (const auto& [l, d] : flat_) doubles += diagonal(l).SumsSize(d);
  return doubles * static_cast<Index>(sizeof(double));
}

void Network::FinishFunction(Index layer, Index function, const Sums& sums,
                             LatentFunctionGradient gradient) const {
  diagonal(layer).Finish(function, sums, gradient);
}

void Network::Finish(const Sums& sums, double scale, const ThreadPool& pool, ConditionedModel* gps,
                     DeepGp* gradient) const {
  const auto view = [&](Index l, Index d) -> LatentFunctionGradient {
    SparseGp& d_gp = gradient->layers[l].gps[d];
    Conditioned& d_conditioned = gps->gradient(l, d);
    d_gp.SetZero();
    d_conditioned.SetZero(d_gp.num_inducing());
    return {d_gp.theta, d_gp.Z, d_conditioned.a, d_conditioned.S};
  };
  pool.Run(static_cast<Index>(flat_.size()), [&](Index job) {
    const auto [l, d] = flat_[job];
    if (gps->share().Holds(job)) FinishFunction(l, d, sums, view(l, d));
  });
  for (Index l = 0; l < model_->num_layers(); ++l) {
    gradient->layers[l].noise_variance = scale * sums.noise(l);
    const auto* joint = std::get_if<JointLayer>(&layers_[l]);
    if (joint == nullptr) continue;
    std::vector<LatentFunctionGradient> views;
    for (Index d = 0; d < model_->layers[l].outputs(); ++d) views.push_back(view(l, d));
    joint->Finish(sums, &views);
  }
  gradient->likelihood_parameters = scale * sums.likelihood();
  gradient->points = scale * sums.points();
  // The weights enter as log w_s - log sum w; the sums already know the second part.
  gradient->point_weights = scale * sums.point_log_weights().cwiseQuotient(model_->point_weights);
}

}  // namespace fathom
