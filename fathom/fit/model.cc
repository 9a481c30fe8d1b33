#include "fathom/fit/model.h"

#include <utility>

namespace fathom {

namespace {

// The functions of the targets alone; those of their noise have no units.
void KeepTargets(Index targets, Prediction* f) {
  for (Moments& component : f->components) {
    component.mean.conservativeResize(Eigen::NoChange, targets);
    component.var.conservativeResize(Eigen::NoChange, targets);
  }
}

}  // namespace

ModelPredictor::ModelPredictor(Model model, int threads, Precision precision)
    : model_(std::move(model)), pool_(threads) {
  members_.push_back(std::make_unique<NetworkPredictor>(model_.network, pool_, precision));
  for (const Model& companion : model_.companions)
    members_.push_back(std::make_unique<NetworkPredictor>(companion.network, pool_, precision));
}

const Model& ModelPredictor::member(std::size_t k) const {
  return k == 0 ? model_ : model_.companions[k - 1];
}

double ModelPredictor::Share(std::size_t k) const {
  double shares = 0;  // of a stack in training, each is still 1
  for (std::size_t j = 0; j < members_.size(); ++j) shares += member(j).share;
  return member(k).share / shares;
}

Prediction ModelPredictor::Predict(const Moments& inputs, const PredictOptions& options) const {
  Prediction mixture;
  std::vector<double> weights;
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const Model& one = member(k);
    Prediction part = members_[k]->Predict(StandardizeInputs(one.input_scaler, inputs), options);
    if (one.network.likelihood->TakesScaledTargets()) {
      if (options.latent) KeepTargets(one.target_scaler.mean.size(), &part);
      part = Unscale(one.target_scaler, std::move(part));
    }
    mixture.observations.insert(mixture.observations.end(), part.observations.begin(),
                                part.observations.end());
    for (std::size_t s = 0; s < part.components.size(); ++s) {
      mixture.components.push_back(std::move(part.components[s]));
      weights.push_back(Share(k) * part.weights[static_cast<Index>(s)]);
    }
  }
  mixture.weights = Eigen::Map<const Vector>(weights.data(), static_cast<Index>(weights.size()));
  return mixture;
}

Matrix ModelPredictor::ClassProbabilities(const Moments& inputs,
                                          const PredictOptions& options) const {
  Matrix mixture;
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const Moments x = StandardizeInputs(member(k).input_scaler, inputs);
    const Matrix part = Share(k) * members_[k]->ClassProbabilities(x, options);
    mixture = k == 0 ? part : Matrix(mixture + part);
  }
  return mixture;
}

}  // namespace fathom
