#include <nlohmann/json.hpp>

#include "fathom/fitted/export.h"
#include "fathom/fitted/model_file.h"
#include "fathom/io/json_text.h"
#include "fathom/io/json_value.h"

namespace fathom {

namespace {

using OrderedJson = nlohmann::ordered_json;

// The numbers from *next on as nested lists of this shape.
OrderedJson Nested(const std::vector<std::uint64_t>& shape, std::size_t axis, const double** next) {
  if (axis == shape.size()) return ToJson(*(*next)++);
  OrderedJson list = OrderedJson::array();
  for (std::uint64_t i = 0; i < shape[axis]; ++i) list.push_back(Nested(shape, axis + 1, next));
  return list;
}

// Up to format 4 a model described one network, and called the others its companions. Programs that
// read those keys go on finding them.
void AddKeysOfOldFormats(const Model& model, OrderedJson* json) {
  const OrderedJson experts = (*json)["model"]["experts"];
  OrderedJson& description = (*json)["model"];
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
  OrderedJson json = {{"format", content.metadata.at("format")},
                      {"format_version", content.metadata.at("format_version")},
                      {"model", TryParseOrderedJson(content.metadata.at("model"))},
                      {"companions", OrderedJson::array()},
                      {"arrays", OrderedJson::object()}};
  AddKeysOfOldFormats(model, &json);
  for (const auto& [name, tensor] : content.tensors) {
    const double* next = tensor.values.data();
    json["arrays"][name] = Nested(tensor.shape, 0, &next);
  }
  return JsonText(json) + "\n";
}

}  // namespace fathom
