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

// What the model's network predicts, under more noise.
Prediction Widened(const Model& model, Prediction y) {
  const Vector noise =
      model.network.likelihood_parameters.cwiseProduct(model.target_scaler.scale.cwiseAbs2());
  for (Moments& component : y.components)
    component.var.rowwise() += (kWideNoise - 1) * noise.transpose();
  return y;
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

// Of a stack in training, each share is still 1.
double ModelPredictor::SumOfShares() const {
  double sum = 0;
  for (std::size_t k = 0; k < members_.size(); ++k) sum += member(k).share + member(k).wide_share;
  return sum;
}

Prediction ModelPredictor::Predict(const Moments& inputs, const PredictOptions& options) const {
  Prediction mixture;
  std::vector<double> weights;
  const double sum = SumOfShares();
  const auto add = [&](Prediction part, double share) {
    if (share == 0) return;
    mixture.observations.insert(mixture.observations.end(), part.observations.begin(),
                                part.observations.end());
    for (std::size_t s = 0; s < part.components.size(); ++s) {
      mixture.components.push_back(std::move(part.components[s]));
      weights.push_back(share / sum * part.weights[static_cast<Index>(s)]);
    }
  };
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const Model& one = member(k);
    Prediction part = members_[k]->Predict(StandardizeInputs(one.input_scaler, inputs), options);
    if (one.network.likelihood->TakesScaledTargets()) {
      if (options.latent) KeepTargets(one.target_scaler.mean.size(), &part);
      part = Unscale(one.target_scaler, std::move(part));
    }
    if (options.latent) {  // where noise is no matter
      add(std::move(part), one.share + one.wide_share);
      continue;
    }
    if (one.wide_share > 0) add(Widened(one, part), one.wide_share);
    add(std::move(part), one.share);
  }
  mixture.weights = Eigen::Map<const Vector>(weights.data(), static_cast<Index>(weights.size()));
  return mixture;
}

Matrix ModelPredictor::ClassProbabilities(const Moments& inputs,
                                          const PredictOptions& options) const {
  Matrix mixture;
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const Moments x = StandardizeInputs(member(k).input_scaler, inputs);
    const Matrix part =
        member(k).share / SumOfShares() * members_[k]->ClassProbabilities(x, options);
    mixture = k == 0 ? part : Matrix(mixture + part);
  }
  return mixture;
}

}  // namespace fathom
