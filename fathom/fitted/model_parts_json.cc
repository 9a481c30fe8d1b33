#include "fathom/fitted/model_parts_json.h"

#include <array>
#include <nlohmann/json.hpp>

#include "fathom/fitted/description.h"

namespace fathom {

namespace {

using Json = nlohmann::json;

// One list of fields for both directions. The binding names all members of the struct, so that a
// new one does not compile until it is listed.
template <typename AnySummary, typename Visitor>
void VisitFields(AnySummary& summary, const Visitor& visit) {
  auto& [rows, energy_per_row, reason, message, steps, recoveries, seconds, largest_jitter] =
      summary;
  visit("rows", rows);
  visit("energy_per_row", energy_per_row);
  visit("reason", reason);
  visit("message", message);
  visit("steps", steps);
  visit("recoveries", recoveries);
  visit("seconds", seconds);
  visit("largest_jitter", largest_jitter);
}

// The three arrays of a scaler by their names in the file.
template <typename AnyScaler>
auto ScalerArrays(const std::string& name, AnyScaler& scaler) {
  return std::array{std::pair{name + ".mean", &scaler.mean},
                    std::pair{name + ".scale", &scaler.scale},
                    std::pair{name + ".missing_var", &scaler.missing_var}};
}

constexpr const char* kInputs = "scalers.inputs";
constexpr const char* kTargets = "scalers.targets";
constexpr const char* kDirections = "scalers.inputs.directions";
constexpr const char* kWhitened = "whitened_inputs";

}  // namespace

Json ToJson(const Schema& schema) {
  Json inputs = Json::array();
  for (const InputColumn& input : schema.inputs) {
    inputs.push_back({{"name", input.name}});
    if (!input.levels.empty()) inputs.back()["levels"] = ToJson(input.levels);
  }
  return {{"inputs", std::move(inputs)},
          {"targets", ToJson(schema.targets)},
          {"classes", ToJson(schema.classes)},
          {"weights", schema.weights},
          {"unnamed_columns", schema.unnamed_columns}};
}

void FromJson(const Json& json, Schema* schema) {
  for (const Json& entry : Field(json, "inputs", Json::value_t::array)) {
    InputColumn& input = schema->inputs.emplace_back();
    ReadField(entry, "name", &input.name);
    ReadOptionalField(entry, "levels", &input.levels);
  }
  ReadField(json, "targets", &schema->targets);
  ReadOptionalField(json, "classes", &schema->classes);
  ReadField(json, "weights", &schema->weights);
  ReadField(json, "unnamed_columns", &schema->unnamed_columns);
  // A name is made for each, so a damaged number must not ask for billions.
  if (schema->unnamed_columns < 0 || schema->unnamed_columns > 100'000'000)
    ThrowError("its number of unnamed columns is ", schema->unnamed_columns);
}

Json ToJson(const TrainingSummary& summary) {
  Json json = Json::object();
  VisitFields(summary, [&](const char* name, const auto& value) { json[name] = ToJson(value); });
  return json;
}

void FromJson(const Json& json, TrainingSummary* summary) {
  VisitFields(*summary, [&](const char* name, auto& value) { ReadField(json, name, &value); });
}

Json ToJson(const TrainingData& data) {
  return {{"fingerprint", data.fingerprint},
          {"origin", data.origin},
          {"settings", ToJson(data.settings)}};
}

void FromJson(const Json& json, TrainingData* data) {
  ReadField(json, "fingerprint", &data->fingerprint);
  ReadField(json, "origin", &data->origin);
  ReadOptionalField(json, "settings", &data->settings);
}

void WriteScalers(const Scaler& inputs, const Scaler& targets, Json* description,
                  const ArrayWriter& arrays) {
  for (const auto& [name, array] : ScalerArrays(kInputs, inputs)) arrays.Write(name, *array);
  for (const auto& [name, array] : ScalerArrays(kTargets, targets)) arrays.Write(name, *array);
  const Matrix& directions = inputs.directions;
  if (directions.size() == 0) return;
  arrays.Write(kDirections, directions);
  (*description)[kWhitened] = directions.cols();
}

void ReadScalers(const Json& description, const Schema& schema, const ArrayReader& arrays,
                 Scaler* inputs, Scaler* targets) {
  for (const auto& [name, array] : ScalerArrays(kInputs, *inputs))
    *array = arrays.TakeVector(name, schema.width());
  for (const auto& [name, array] : ScalerArrays(kTargets, *targets))
    *array = arrays.TakeVector(name, static_cast<Index>(schema.targets.size()));
  Index directions = 0;
  ReadOptionalField(description, kWhitened, &directions);
  if (description.contains(kWhitened))
    inputs->directions = arrays.TakeMatrix(kDirections, schema.width(), directions);
}

Json ParseDescription(const SafeTensors& content, const std::string& key) {
  const auto found = content.metadata.find(key);
  if (found == content.metadata.end()) ThrowError("its metadata have no ", Quoted(key));
  const auto shallow = [](int depth, Json::parse_event_t /*event*/, Json& /*value*/) {
    if (depth > 10) ThrowError("its description is nested too deeply");
    return true;
  };
  try {
    return Json::parse(found->second, shallow);
  } catch (const Json::exception&) {
    ThrowError("its description is not JSON");
  }
}

}  // namespace fathom
