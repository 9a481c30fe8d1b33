#include "fathom/inference/row_step.h"

#include <algorithm>

namespace fathom {

void RowStep::Attach(const DeepGp& model, Index first, bool uncertain_inputs) {
  first_ = first;
  network_.Reset(model, {.uncertain = uncertain_inputs});
  targets_.Reserve(model, 0);
}

void RowStep::SetCavity(Index layer, Index function, const Conditioned& cavity) {
  network_.Set(layer, function, cavity);
}

double RowStep::Run(double alpha, const Moments& below, const Moments& raw, const double* y) {
  network_.ResetSums(&sums_);
  pass_.Reserve(network_, {first_, network_.model().num_layers()}, 1, 0);
  pass_.entered().moments = below;
  if (pass_.NeedsRaw()) pass_.raw() = raw;
  pass_.Up(network_, {}, {});
  targets_.Meet(network_, {.alpha = alpha}, {.y = y}, &pass_, &sums_);
  pass_.Down(network_, {.entered = first_ > 0}, &sums_);
  return sums_.log_z();
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
