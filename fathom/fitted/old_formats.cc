#include "fathom/fitted/old_formats.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "fathom/fitted/by_expert.h"
#include "fathom/fitted/deep_gp_expert.h"
#include "fathom/fitted/description.h"
#include "fathom/fitted/model_parts_json.h"
#include "fathom/recipe/recipe_json.h"

namespace fathom {

namespace {

using Json = nlohmann::json;

// The "wide_share" of format 4 stood for this noise.
constexpr double kWideNoise = 25;

// One network of the file with what its description says of the table.
struct OldNetwork {
  Schema schema;
  TrainingData data;
  Member member;  // its weight is the "share"
  double wide_share = 0;
};

// Format 1 has no "columns", because all were numbers, and sometimes no "data". Format 2 has no
// classes and format 3 no "wide_share".
OldNetwork TakeNetwork(const Json& description, const ArrayReader& arrays) {
  OldNetwork network;
  std::vector<std::string> inputs;
  std::vector<std::string> targets;
  ReadField(description, "inputs", &inputs);
  ReadField(description, "targets", &targets);
  if (description.contains("columns")) {
    FromJson(FieldOf(description, "columns", Json::value_t::object), &network.schema);
    if (network.schema.FeatureNames() != inputs || network.schema.targets != targets)
      ThrowError("its columns are not those of its inputs and targets");
  } else {
    network.schema = NumericSchema(inputs, targets);
  }
  if (description.contains("data"))
    FromJson(FieldOf(description, "data", Json::value_t::object), &network.data);
  Member& member = network.member;
  member.recipe.stack = Stacking::kNever;  // what files mean that know of no ensembles
  UpdateRecipe(FieldOf(description, "recipe", Json::value_t::object), &member.recipe);
  FromJson(FieldOf(description, "training", Json::value_t::object), &member.summary);
  member.expert = ReadDeepGpExpert(description, arrays);
  ReadScalers(description, network.schema, arrays, &member.input_scaler, &member.target_scaler);
  ReadOptionalField(description, "share", &member.weight);
  ReadOptionalField(description, "wide_share", &network.wide_share);
  for (const double share : {member.weight, network.wide_share}) {
    if (!(share >= 0 && share <= 1))
      ThrowError("the share of a network is ", share, ", not between 0 and 1");
  }
  if (member.weight + network.wide_share == 0) ThrowError("a network has no share in the stack");
  return network;
}

void AddMembers(OldNetwork network, ModelParts* parts) {
  Member wide = network.member;
  wide.weight = network.wide_share;
  wide.noise_scale = kWideNoise;
  if (network.member.weight > 0) parts->members.push_back(std::move(network.member));
  if (wide.weight > 0) parts->members.push_back(std::move(wide));
}

}  // namespace

ModelParts TakeOldModel(const Json& description, SafeTensors* content) {
  OldNetwork first = TakeNetwork(description, ArrayReader(content));
  ModelParts parts{.schema = first.schema,
                   .members = {},
                   .recipe = first.member.recipe,
                   .summary = first.member.summary,
                   .data = first.data};
  AddMembers(std::move(first), &parts);
  Index companions = 0;
  ReadOptionalField(description, "companions", &companions);
  for (Index k = 0; k < companions; ++k) {
    const std::string prefix = "companions." + std::to_string(k) + ".";
    const Json own = ParseDescription(*content, prefix + "model");
    OldNetwork companion = TakeNetwork(own, ArrayReader(content, prefix));
    Index nested = 0;
    ReadOptionalField(own, "companions", &nested);
    if (nested != 0 || companion.schema.FeatureNames() != parts.schema.FeatureNames() ||
        companion.schema.targets != parts.schema.targets ||
        companion.schema.classes != parts.schema.classes)
      ThrowError("a companion of its network is for another table");
    AddMembers(std::move(companion), &parts);
  }
  // In the checkpoint of an ensemble each share is still 1.
  NormalizeWeights(&parts.members);
  return parts;
}

}  // namespace fathom
