#include "fathom/fitted/model.h"

#include <utility>

#include "fathom/base/error.h"

namespace fathom {

namespace {

// The functions of the targets alone; those of their noise have no units.
void KeepTargets(Index targets, Prediction* f) {
  for (Moments& component : f->components) {
    component.mean.conservativeResize(Eigen::NoChange, targets);
    component.var.conservativeResize(Eigen::NoChange, targets);
  }
}

// What a network predicts, in the units that it was trained in, under more noise.
Prediction Widened(const DeepGp& network, Prediction y) {
  for (Moments& component : y.components)
    component.var.rowwise() += (kWideNoise - 1) * network.likelihood_parameters.transpose();
  return y;
}

}  // namespace

std::vector<const Model*> NetworksOf(const Model& model) {
  std::vector<const Model*> networks = {&model};
  for (const Model& companion : model.companions) networks.push_back(&companion);
  return networks;
}

ModelPredictor::ModelPredictor(Model model, int threads, Precision precision)
    : model_(std::move(model)), pool_(threads) {
  double sum = 0;  // of a stack in training, each share is still 1
  for (const Model* one : NetworksOf(model_)) sum += one->share + one->wide_share;
  FATHOM_CHECK(sum > 0);
  for (const Model* one : NetworksOf(model_)) {
    FATHOM_CHECK(one->wide_share == 0 || one->network.likelihood->Name() == "gaussian");
    members_.push_back({*one, one->share / sum, one->wide_share / sum,
                        std::make_unique<NetworkPredictor>(one->network, pool_, precision)});
  }
}

Prediction ModelPredictor::Predict(const Moments& inputs, const PredictOptions& options) const {
  Prediction mixture;
  std::vector<double> weights;
  const auto add = [&](const Model& model, Prediction part, double share) {
    if (share == 0) return;
    if (model.network.likelihood->TakesScaledTargets()) {
      if (options.latent) KeepTargets(model.target_scaler.mean.size(), &part);
      part = Unscale(model.target_scaler, std::move(part));
    }
    mixture.observations.insert(mixture.observations.end(), part.observations.begin(),
                                part.observations.end());
    for (std::size_t s = 0; s < part.components.size(); ++s) {
      mixture.components.push_back(std::move(part.components[s]));
      weights.push_back(share * part.weights[static_cast<Index>(s)]);
    }
  };
  for (const auto& [model, share, wide_share, predictor] : members_) {
    Prediction part = predictor->Predict(StandardizeInputs(model.input_scaler, inputs), options);
    if (options.latent) {  // where noise is no matter
      add(model, std::move(part), share + wide_share);
      continue;
    }
    Prediction wide = wide_share > 0 ? Widened(model.network, part) : Prediction();
    add(model, std::move(part), share);
    add(model, std::move(wide), wide_share);
  }
  mixture.weights = Eigen::Map<const Vector>(weights.data(), static_cast<Index>(weights.size()));
  return mixture;
}

Matrix ModelPredictor::ClassProbabilities(const Moments& inputs,
                                          const PredictOptions& options) const {
  Matrix mixture;
  for (const auto& [model, share, wide_share, predictor] : members_) {
    const Moments x = StandardizeInputs(model.input_scaler, inputs);
    const Matrix part = share * predictor->ClassProbabilities(x, options);
    mixture = mixture.size() == 0 ? part : Matrix(mixture + part);
  }
  return mixture;
}

}  // namespace fathom
