#include "fathom/fit/model.h"

#include <utility>

namespace fathom {

ModelPredictor::ModelPredictor(Model model, int threads, Precision precision)
    : model_(std::move(model)), pool_(threads) {
  members_.push_back(std::make_unique<Predictor>(model_.network, pool_, precision));
  for (const Model& companion : model_.companions)
    members_.push_back(std::make_unique<Predictor>(companion.network, pool_, precision));
}

const Model& ModelPredictor::member(std::size_t k) const {
  return k == 0 ? model_ : model_.companions[k - 1];
}

Prediction ModelPredictor::Predict(const Moments& inputs, const PredictOptions& options) const {
  double shares = 0;  // that of a stack in training is not 1 yet
  for (std::size_t k = 0; k < members_.size(); ++k) shares += member(k).share;
  Prediction mixture;
  std::vector<double> weights;
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const Model& one = member(k);
    Prediction part =
        Unscale(one.target_scaler,
                members_[k]->Predict(StandardizeInputs(one.input_scaler, inputs), options));
    for (std::size_t s = 0; s < part.components.size(); ++s) {
      mixture.components.push_back(std::move(part.components[s]));
      weights.push_back(one.share / shares * part.weights[static_cast<Index>(s)]);
    }
  }
  mixture.weights = Eigen::Map<const Vector>(weights.data(), static_cast<Index>(weights.size()));
  return mixture;
}

}  // namespace fathom
