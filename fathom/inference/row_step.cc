#include "fathom/inference/row_step.h"

#include <algorithm>

namespace fathom {

void RowStep::Attach(const DeepGp& model, Index first, bool uncertain_inputs) {
  first_ = first;
  network_.Attach(model, {.uncertain = uncertain_inputs});
  const auto layers = static_cast<std::size_t>(model.num_layers());
  tapes_.resize(layers);
  moments_.resize(layers - first + 1);
  d_moments_.resize(layers - first + 1);
}

void RowStep::SetCavity(Index layer, Index function, const Conditioned& cavity) {
  network_.SetCavity(layer, function, cavity);
}

double RowStep::Run(double alpha, const Moments& below, const Moments& raw, const double* y) {
  const DeepGp& model = network_.model();
  const Index layers = model.num_layers();
  network_.ResetSums(&sums_);
  moments_[0] = below;
  for (Index l = first_; l < layers; ++l)
    network_.Forward(l, moments_[l - first_], raw, &tapes_[l], &moments_[l - first_ + 1]);
  const Moments& f = moments_.back();
  Moments& d_f = d_moments_.back();
  d_f.SetZero(1, f.cols());
  const double log_z = model.likelihood->LogZ(model.likelihood_parameters, alpha, model.outputs(),
                                              y, f.mean.data(), f.var.data(), d_f.mean.data(),
                                              d_f.var.data(), sums_.likelihood.data());
  for (Index l = layers - 1; l >= first_; --l) {
    network_.Backward(l, d_moments_[l - first_ + 1], &tapes_[l], &sums_,
                      l == 0 ? nullptr : &d_moments_[l - first_]);
  }
  return log_z;
}

const RowStep::Slopes& RowStep::FunctionSlopes(Index layer, Index function) {
  const SparseGp& gp = network_.model().layers[layer].gps[function];
  slopes_.theta.setZero(gp.theta.size());
  slopes_.Z.setZero(gp.num_inducing(), gp.input_dim());
  slopes_.cavity.SetZero(gp.num_inducing());
  network_.FinishFunction(layer, function, sums_,
                          {slopes_.theta, slopes_.Z, slopes_.cavity.a, slopes_.cavity.S});
  return slopes_;
}

Index RowSteps::NumSlots(Index count) { return std::clamp<Index>(count / 8, 1, 32); }

void RowSteps::Run(const DeepGp& model, Index first, bool uncertain_inputs, Index count,
                   const ThreadPool& pool,
                   const std::function<void(RowStep*, Index, Index)>& work) {
  const Index slots = NumSlots(count);
  while (static_cast<Index>(steps_.size()) < slots) steps_.push_back(std::make_unique<RowStep>());
  pool.Run(slots, [&](Index slot) {
    RowStep* step = steps_[slot].get();
    step->Attach(model, first, uncertain_inputs);
    for (Index i = slot * count / slots; i < (slot + 1) * count / slots; ++i) work(step, slot, i);
  });
}

}  // namespace fathom
