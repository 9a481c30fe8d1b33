#include "fathom/fitted/predictor.h"

#include <utility>

#include "fathom/fitted/by_expert.h"
#include "fathom/fitted/expert.h"

namespace fathom {

namespace {

// The functions of the targets alone; those of their noise have no units.
void KeepTargets(Index targets, Prediction* f) {
  for (Moments& component : f->components) {
    component.mean.conservativeResize(Eigen::NoChange, targets);
    component.var.conservativeResize(Eigen::NoChange, targets);
  }
}

// What the member makes of its expert's prediction of y, which has the expert's own noise.
Prediction WithNoiseOf(const Member& member, Prediction y) {
  if (member.noise_scale == 1) return y;
  const Vector more = (member.noise_scale - 1) * member.expert->NoiseVariance();
  for (Moments& component : y.components) component.var.rowwise() += more.transpose();
  return y;
}

// Back to the units of the file.
Prediction Unscaled(const Member& member, bool latent, Prediction part) {
  if (!member.expert->likelihood().TakesScaledTargets()) return part;
  if (latent) KeepTargets(member.target_scaler.mean.size(), &part);
  return Unscale(member.target_scaler, std::move(part));
}

// Adds components one by one and brings them together at the end.
class Mixture {
 public:
  void Add(Prediction part, double weight) {
    mixture_.observations.insert(mixture_.observations.end(), part.observations.begin(),
                                 part.observations.end());
    for (std::size_t s = 0; s < part.components.size(); ++s) {
      mixture_.components.push_back(std::move(part.components[s]));
      weights_.push_back(weight * part.weights[static_cast<Index>(s)]);
    }
  }

  Prediction Take() {
    mixture_.weights =
        Eigen::Map<const Vector>(weights_.data(), static_cast<Index>(weights_.size()));
    return std::move(mixture_);
  }

 private:
  Prediction mixture_;
  std::vector<double> weights_;
};

}  // namespace

ModelPredictor::ModelPredictor(Model model, int threads, Precision precision)
    : model_(std::move(model)), pool_(threads) {
  for (const auto& members : ByExpert(model_.members()))
    groups_.push_back({members, members.front().expert->Prepare(pool_, precision)});
}

ModelPredictor::~ModelPredictor() = default;

Prediction ModelPredictor::Predict(const Moments& inputs, const PredictOptions& options) const {
  Mixture mixture;
  for (const Group& group : groups_) {
    const Member& first = group.members.front();
    Prediction part = group.expert->Predict(StandardizeInputs(first.input_scaler, inputs), options);
    if (options.latent) {  // the members differ in their noise alone
      mixture.Add(Unscaled(first, true, std::move(part)), WeightOf(group.members));
      continue;
    }
    for (const Member& member : group.members) {
      const bool last = &member == &group.members.back();
      Prediction own = WithNoiseOf(member, last ? std::move(part) : part);
      mixture.Add(Unscaled(member, false, std::move(own)), member.weight);
    }
  }
  return mixture.Take();
}

Matrix ModelPredictor::ClassProbabilities(const Moments& inputs,
                                          const PredictOptions& options) const {
  Matrix mixture;
  for (const Group& group : groups_) {
    const Moments x = StandardizeInputs(group.members.front().input_scaler, inputs);
    const Matrix part = WeightOf(group.members) * group.expert->ClassProbabilities(x, options);
    mixture = mixture.size() == 0 ? part : Matrix(mixture + part);
  }
  return mixture;
}

}  // namespace fathom
