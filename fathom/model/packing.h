// Conversion between a model and the unconstrained vector that the optimiser moves, which holds
// logarithms of what must be positive.
#ifndef FATHOM_MODEL_PACKING_H_
#define FATHOM_MODEL_PACKING_H_

#include <utility>
#include <vector>

#include "fathom/model/deep_gp.h"

namespace fathom {

// Noise variances are floor + exp(parameter), so that a density cannot spike on targets of few
// distinct values.
struct Packing {
  double noise_floor = 0;
  bool with_posterior = true;  // false: kernels, pseudo-inputs and noises alone
};

Index NumUnconstrained(const DeepGp& model, const Packing& packing = {});
Vector Pack(const DeepGp& model, const Packing& packing);
// Writes the parameters into a model of the same shape.
void Unpack(const Vector& unconstrained, const Packing& packing, DeepGp* model);
// Chain rule: from the gradient with respect to the plain parameters at `model` (consumed: shared
// parts are gathered).
void PackGradient(const DeepGp& model, const Packing& packing, DeepGp* gradient,
                  Vector* unconstrained);

// A model that stays in place with its parameters listed once: its packing allocates nothing.
struct ListedModel {
  explicit ListedModel(DeepGp of) : model(std::move(of)), parameters(Parameters(&model)) {}
  ListedModel(const ListedModel&) = delete;
  ListedModel& operator=(const ListedModel&) = delete;

  DeepGp model;
  std::vector<ParameterArray> parameters;
};
void Unpack(const Vector& unconstrained, const Packing& packing, ListedModel* model);
void PackGradient(const ListedModel& model, const Packing& packing, ListedModel* gradient,
                  Vector* unconstrained);

}  // namespace fathom

#endif  // FATHOM_MODEL_PACKING_H_
