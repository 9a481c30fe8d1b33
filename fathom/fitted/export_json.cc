#include <nlohmann/json.hpp>

#include "fathom/fitted/export.h"
#include "fathom/fitted/model_file.h"
#include "fathom/io/json_value.h"

namespace fathom {

namespace {

using Json = nlohmann::ordered_json;

// The numbers from *next on as nested lists of this shape.
Json Nested(const std::vector<std::uint64_t>& shape, std::size_t axis, const double** next) {
  if (axis == shape.size()) return ToJson(*(*next)++);
  Json list = Json::array();
  for (std::uint64_t i = 0; i < shape[axis]; ++i) list.push_back(Nested(shape, axis + 1, next));
  return list;
}

// Up to format 4 a model described one network, and called the others its companions. Programs that
// read those keys go on finding them.
void AddKeysOfOldFormats(const Model& model, Json* json) {
  const Json experts = (*json)["model"]["experts"];
  Json& description = (*json)["model"];
  for (const auto& [key, value] : experts.front().items()) {
    if (key != "kind") description[key] = value;
  }
  description["inputs"] = model.schema().FeatureNames();
  description["targets"] = model.schema().targets;
  for (std::size_t k = 1; k < experts.size(); ++k) (*json)["companions"].push_back(experts[k]);
}

}  // namespace

std::string ExportJson(const Model& model) {
  const SafeTensors content = ModelToTensors(model);
  Json json = {{"format", content.metadata.at("format")},
               {"format_version", content.metadata.at("format_version")},
               {"model", Json::parse(content.metadata.at("model"))},
               {"companions", Json::array()},
               {"arrays", Json::object()}};
  AddKeysOfOldFormats(model, &json);
  for (const auto& [name, tensor] : content.tensors) {
    const double* next = tensor.values.data();
    json["arrays"][name] = Nested(tensor.shape, 0, &next);
  }
  return json.dump() + "\n";
}

}  // namespace fathom
