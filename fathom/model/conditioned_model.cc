#include "fathom/model/conditioned_model.h"

#include <algorithm>

namespace fathom {

void ConditionedModel::Prepare(const DeepGp& model, const Cavity& cavity, const ThreadPool& pool,
                               FunctionShare mine) {
  cavity_ = cavity;
  share_ = mine;
  gps_.resize(model.layers.size());
  flat_.clear();
  for (std::size_t l = 0; l < gps_.size(); ++l) {
    gps_[l].resize(model.layers[l].gps.size());
    for (std::size_t d = 0; d < gps_[l].size(); ++d) flat_.emplace_back(l, d);
  }
  pool.Run(static_cast<Index>(flat_.size()), [&](Index job) {
    if (!share_.Holds(job)) return;
    const auto [l, d] = flat_[job];
    fathom::Prepare(model.layers[l].gps[d], cavity_, model.jitter, &gps_[l][d]);
  });
}

double ConditionedModel::FactorEnergy() const {
  double energy = 0;
  for (const auto& layer : gps_) {
    for (const PreparedGp& gp : layer) energy += gp.energy;
  }
  return energy;
}

double ConditionedModel::LargestJitter() const {
  double jitter = 0;
  for (const auto& layer : gps_) {
    for (const PreparedGp& gp : layer) jitter = std::max(jitter, gp.jitter);
  }
  return jitter;
}

void ConditionedModel::Backward(const DeepGp& model, double scale, const ThreadPool& pool,
                                DeepGp* gradient) {
  pool.Run(num_functions(), [&](Index job) {
    if (!share_.Holds(job)) return;
    const auto [l, d] = flat_[job];
    SparseGp& d_gp = gradient->layers[l].gps[d];
    PreparedGp& gp = gps_[l][d];
    d_gp.theta *= scale;
    d_gp.Z *= scale;
    gp.d_cavity.a *= scale;
    gp.d_cavity.S *= scale;
    PrepareBackward(model.layers[l].gps[d], cavity_, &gp, &d_gp);
  });
}

}  // namespace fathom
