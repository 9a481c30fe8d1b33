#include "fathom/inference/diagonal_layer.h"

#include "fathom/base/error.h"

namespace fathom {

void DiagonalLayer::Reset(const GpLayer& layer, Index number, const ProjectionOptions& options) {
  layer_ = &layer;
  number_ = number;
  options_ = options;
  projections_.resize(layer.gps.size());
  mean_weights_.resize(layer.gps.size());
}

void DiagonalLayer::Set(Index function, const Conditioned& conditioned) {
  const SparseGp& gp = layer_->gps[function];
  std::unique_ptr<Projection>& projection = projections_[function];
  if (!projection) projection = gp.kernel->NewProjection();
  Vector& w = mean_weights_[function];
  if (layer_->mean_weights.size() > 0) w = layer_->mean_weights.col(function);
  projection->Prepare({gp.theta, gp.Z, conditioned.a, conditioned.S, w}, options_);
}

Index DiagonalLayer::SumsSize(Index function) const {
  return projections_[function] ? projections_[function]->SumsSize() : 0;
}

void DiagonalLayer::Reserve(Index rows, Tape* tape) const {
  const Index inputs = layer_->inputs();
  const Index outputs = layer_->outputs();
  tape->input.Resize(rows, inputs);
  tape->d_input.Resize(rows, inputs);
  tape->latent_var.resize(rows, outputs);
  tape->m.resize(rows);
  tape->v.setZero(rows);
  tape->functions.resize(outputs);
  for (Index d = 0; d < outputs; ++d) {
    AlignedBuffer& memory = tape->functions[d];
    const auto needed = static_cast<std::size_t>(projections_[d]->TapeSize(rows));
    if (memory.size() < needed) memory.resize(needed);
  }
}

void DiagonalLayer::Forward(const Moments& below, const Moments& raw, Tape* tape,
                            Moments* out) const {
  const Index outputs = layer_->outputs();
  FATHOM_CHECK(tape->m.size() == below.rows());
  Moments& input = tape->input;
  if (layer_->skip) {
    input.mean << below.mean, raw.mean;
    input.var << below.var, raw.var;
  } else {
    input = below;
  }
  out->Resize(below.rows(), outputs);
  for (Index d = 0; d < outputs; ++d) {
    projections_[d]->Forward({input.mean, input.var}, tape->functions[d].data(), tape->m.data(),
                             tape->v.data());
    out->mean.col(d) = tape->m;
    tape->latent_var.col(d) = tape->v;
  }
  // Rounding may leave a variance slightly below zero where the function is pinned down. NaN stays
  // NaN: it must be noticed.
  out->var = tape->latent_var.unaryExpr([](double v) { return v < 0 ? 0.0 : v; });
  const Vector& noise = layer_->noise_variance;
  if (noise.size() > 0) out->var.rowwise() += noise.transpose();
}

void DiagonalLayer::Backward(const Moments& d_out, Wanted wanted, Tape* tape, Sums* sums) const {
  const Moments& input = tape->input;
  if (layer_->noise_variance.size() > 0)
    sums->noise(number_) += d_out.var.colwise().sum().transpose();
  if (wanted != Wanted::kNone) tape->d_input.SetZero(input.rows(), input.cols());
  Eigen::Ref<Matrix> d_mean(tape->d_input.mean);
  Eigen::Ref<Matrix> d_var(tape->d_input.var);
  for (Index d = 0; d < layer_->outputs(); ++d) {
    tape->m = d_out.mean.col(d);
    tape->v = (tape->latent_var.col(d).array() < 0).select(0.0, d_out.var.col(d));
    projections_[d]->Backward({input.mean, input.var}, tape->functions[d].data(),
                              {tape->m.data(), tape->v.data()}, sums->function(number_, d),
                              {wanted == Wanted::kNone ? nullptr : &d_mean,
                               wanted == Wanted::kMeanAndVar ? &d_var : nullptr});
  }
}

void DiagonalLayer::Finish(Index function, const Sums& sums,
                           LatentFunctionGradient gradient) const {
  projections_[function]->Finish(sums.function(number_, function), gradient);
}

}  // namespace fathom
