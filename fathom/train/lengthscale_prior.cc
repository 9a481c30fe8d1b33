#include "fathom/train/lengthscale_prior.h"

#include <cmath>

namespace fathom {

namespace {

DeepGp WithLengthscales(DeepGp network, double over_root_inputs) {
  for (GpLayer& layer : network.layers) {
    for (SparseGp& gp : layer.gps) {
      const double lengthscale = over_root_inputs * std::sqrt(static_cast<double>(gp.input_dim()));
      gp.SetLengthscales(Vector::Constant(gp.input_dim(), lengthscale));
    }
  }
  return network;
}

}  // namespace

WithLengthscalePrior::WithLengthscalePrior(const Objective& energy, const DeepGp& shape,
                                           const Packing& packing, double sd, double N)
    : energy_(energy),
      centre_(Pack(WithLengthscales(shape, 1), packing)),
      weight_(sd > 0 ? 1 / (sd * sd * N) : 0) {
  if (sd <= 0) return;
  const Vector elsewhere = Pack(WithLengthscales(shape, 2), packing);
  for (Index i = 0; i < centre_.size(); ++i) {
    if (elsewhere[i] != centre_[i]) places_.push_back(i);
  }
}

bool WithLengthscalePrior::Evaluate(const Vector& parameters, const Batch& batch, double* value,
                                    Vector* gradient, std::string* reason) const {
  if (!energy_.Evaluate(parameters, batch, value, gradient, reason)) return false;
  for (const Index i : places_) {
    const double away = parameters[i] - centre_[i];
    *value += weight_ * away * away / 2;
    if (gradient != nullptr) (*gradient)[i] += weight_ * away;
  }
  return true;
}

}  // namespace fathom
