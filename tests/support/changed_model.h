// Models that differ from a given one: a Model itself does not change.
#ifndef FATHOM_TESTS_SUPPORT_CHANGED_MODEL_H_
#define FATHOM_TESTS_SUPPORT_CHANGED_MODEL_H_

#include <memory>
#include <utility>

#include "fathom/fitted/deep_gp_expert.h"
#include "fathom/fitted/model.h"

namespace fathom {

// change(ModelParts*)
template <typename Change>
Model Changed(const Model& model, const Change& change) {
  ModelParts parts = model.parts();
  change(&parts);
  return Model(std::move(parts));
}

// change(DeepGp*) of the member.
template <typename Change>
void ChangeNetwork(Member* member, const Change& change) {
  DeepGp network = NetworkOf(*member);
  change(&network);
  member->expert = std::make_shared<DeepGpExpert>(std::move(network));
}

// change(DeepGp*) of the first member.
template <typename Change>
Model WithNetwork(const Model& model, const Change& change) {
  return Changed(model, [&](ModelParts* parts) { ChangeNetwork(&parts->members[0], change); });
}

inline const DeepGp& LeadingNetwork(const Model& model) { return NetworkOf(model.leader()); }

// The model without the time that its training took, by which equal trainings differ.
inline Model WithoutTime(const Model& model) {
  return Changed(model, [](ModelParts* parts) {
    parts->summary.seconds = 0;
    for (Member& member : parts->members) member.summary.seconds = 0;
  });
}

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_CHANGED_MODEL_H_
