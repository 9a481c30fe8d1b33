#include "fathom/fitted/model.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/fitted/expert.h"

namespace fathom {

namespace {

void CheckSchema(const Schema& schema) {
  std::set<std::string> seen;
  for (const auto& names : {schema.FeatureNames(), schema.targets}) {
    for (const std::string& name : names) {
      if (!seen.insert(name).second) ThrowError("column ", Quoted(name), " is named twice");
    }
  }
  const std::vector<std::string>& classes = schema.classes;
  if (std::set(classes.begin(), classes.end()).size() != classes.size())
    ThrowError("a class is named twice");
}

void CheckScaler(const Scaler& scaler, const char* name) {
  const bool finite = scaler.mean.allFinite() && scaler.scale.allFinite() &&
                      scaler.missing_var.allFinite() && scaler.directions.allFinite();
  if (!finite || (scaler.scale.array() <= 0).any() || (scaler.missing_var.array() < 0).any())
    ThrowError("the scaler of the ", name, " holds a number that is not finite or out of range;",
               " make the file anew");
}

void RequireSize(Index size, Index needed, const char* what) {
  if (size != needed) ThrowError("there are ", size, " ", what, " where ", needed, " are needed");
}

void CheckMember(const Member& member, const Schema& schema) {
  FATHOM_CHECK(member.expert != nullptr);
  const Expert& expert = *member.expert;
  const Likelihood& likelihood = expert.likelihood();
  expert.Check();
  CheckScaler(member.input_scaler, "inputs");
  CheckScaler(member.target_scaler, "targets");
  const Index targets = likelihood.NumTargets(expert.num_outputs());
  RequireSize(member.input_scaler.outputs(), expert.num_inputs(), "inputs of the first layer");
  RequireSize(static_cast<Index>(schema.targets.size()), targets, "target columns");
  RequireSize(static_cast<Index>(schema.classes.size()),
              likelihood.NumClasses(expert.num_outputs()), "classes");
  RequireSize(member.input_scaler.mean.size(), schema.width(), "scaled inputs");
  RequireSize(member.target_scaler.mean.size(), targets, "scaled targets");
  if (!(member.weight > 0 && member.weight <= 1))
    ThrowError("the weight of a member is ", member.weight, ", not above 0 and at most 1");
  if (!(member.noise_scale > 0 && std::isfinite(member.noise_scale)))
    ThrowError("the noise scale of a member is ", member.noise_scale, ", not positive");
  if (member.noise_scale != 1 && expert.NoiseVariance().size() == 0)
    ThrowError("a member multiplies its noise, but the likelihood ", Quoted(likelihood.Name()),
               " adds no Gaussian noise");
}

const Member& FirstWith(const std::shared_ptr<const Expert>& expert,
                        const std::vector<Member>& members) {
  return *std::find_if(members.begin(), members.end(),
                       [&](const Member& member) { return member.expert == expert; });
}

void CheckParts(const ModelParts& parts) {
  CheckSchema(parts.schema);
  if (parts.members.empty()) ThrowError("the model has no members");
  double sum = 0;
  for (const Member& member : parts.members) {
    CheckMember(member, parts.schema);
    sum += member.weight;
    const Member& other = FirstWith(member.expert, parts.members);
    if (!(member.input_scaler == other.input_scaler) ||
        !(member.target_scaler == other.target_scaler))
      ThrowError("two members share an expert but not its scalers");
  }
  constexpr double kRounding = 1e-6;
  if (std::abs(sum - 1) > kRounding)
    ThrowError("the weights of its members sum to ", sum, ", not to 1");
}

}  // namespace

Model::Model(ModelParts parts) {
  CheckParts(parts);
  parts_ = std::make_shared<const ModelParts>(std::move(parts));
}

void NormalizeWeights(std::vector<Member>* members) {
  double sum = 0;
  for (auto member = members->begin(); member != members->end();) {
    double together = 0;  // of members that share an expert
    const Expert* expert = member->expert.get();
    for (; member != members->end() && member->expert.get() == expert; ++member)
      together += member->weight;
    sum += together;
  }
  FATHOM_CHECK(sum > 0);
  for (Member& member : *members) member.weight /= sum;
}

}  // namespace fathom
