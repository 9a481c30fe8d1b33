#include "fathom/inference/joint_layer.h"

#include <string>

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

void JointLayer::Prepare(const DeepGp& model, Index number, const ConditionedModel& gps) {
  layer_ = &model.layers[number];
  number_ = number;
  const Matrix& w = layer_->mean_weights;
  std::vector<Vector> means;  // the functions refer to them
  for (Index d = 0; d < layer_->outputs(); ++d)
    means.push_back(w.size() > 0 ? Vector(w.col(d)) : Vector());
  std::vector<LatentFunction> functions;
  for (Index d = 0; d < layer_->outputs(); ++d) {
    const SparseGp& gp = layer_->gps[d];
    const Conditioned& conditioned = gps.at(number, d);
    functions.push_back({gp.theta, gp.Z, conditioned.a, conditioned.S, means[d]});
  }
  if (!functions_) functions_ = layer_->gps[0].kernel->NewFullLayer();
  functions_->Prepare(functions);
}

void JointLayer::Forward(const FullMoments& below, const Moments& raw, Tape* tape,
                         FullMoments* out) const {
  FullMoments& input = tape->input;
  if (layer_->skip) {
    const Index hidden = below.cols();
    input.SetZero(below.rows(), hidden + raw.cols());
    input.mean << below.mean, raw.mean;
    for (Index n = 0; n < below.rows(); ++n) {
      input.cov[n].topLeftCorner(hidden, hidden) = below.cov[n];
      input.cov[n].diagonal().tail(raw.cols()) = raw.var.row(n).transpose();
    }
  } else {
    input = below;
  }
  functions_->Forward(input, out);
  const Vector& noise = layer_->noise_variance;
  if (noise.size() == 0) return;
  for (Matrix& cov : out->cov) cov.diagonal() += noise;
}

void JointLayer::Backward(const FullMoments& d_out, bool inputs_wanted, Tape* tape,
                          Sums* sums) const {
  if (layer_->noise_variance.size() > 0) {
    for (const Matrix& d_cov : d_out.cov) sums->noise(number_) += d_cov.diagonal();
  }
  functions_->Backward(tape->input, d_out, sums->function(number_, 0),
                       inputs_wanted ? &tape->d_input : nullptr);
}

void JointLayer::Finish(const Sums& sums, std::vector<LatentFunctionGradient>* gradients) const {
  functions_->Finish(sums.function(number_, 0), gradients);
}

}  // namespace fathom
