#include "fathom/fitted/model_parts_json.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "fathom/fitted/description.h"
#include "fathom/io/json_text.h"

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
constexpr const char* kKnots = "scalers.inputs.warps.knots";
constexpr const char* kScores = "scalers.inputs.warps.scores";
constexpr const char* kWarped = "warped_inputs";
constexpr const char* kWhitened = "whitened_inputs";

Json FormatJson(const CellFormat& format) {
  Json json = {{"kind", NameOf(format.kind)}};
  if (format.decimal != '.') json["decimal"] = std::string(1, format.decimal);
  if (!format.affix.empty()) json["affix"] = format.affix;
  if (format.day_first) json["day_first"] = true;
  return json;
}

void ReadFormat(const Json& json, CellFormat* format) {
  ReadField(json, "kind", &format->kind);
  std::string decimal = ".";
  ReadOptionalField(json, "decimal", &decimal);
  if (decimal != "." && decimal != ",")
    ThrowError("the decimal sign of a column is ", Quoted(decimal));
  format->decimal = decimal[0];
  ReadOptionalField(json, "affix", &format->affix);
  ReadOptionalField(json, "day_first", &format->day_first);
}

Json InputJson(const InputColumn& input) {
  Json json = {{"name", input.name}};
  if (!input.levels.empty()) json["levels"] = ToJson(input.levels);
  if (input.format != CellFormat{}) json["format"] = FormatJson(input.format);
  if (input.parts.empty()) return json;
  json["first_date"] = ToJson(input.first_date);
  for (const DatePart part : input.parts) json["date_parts"].push_back(NameOf(part));
  return json;
}

void ReadInput(const Json& json, InputColumn* input) {
  ReadField(json, "name", &input->name);
  ReadOptionalField(json, "levels", &input->levels);
  if (json.contains("format"))
    ReadFormat(FieldOf(json, "format", Json::value_t::object), &input->format);
  if (!json.contains("date_parts")) return;
  ReadField(json, "first_date", &input->first_date);
  for (const Json& part : FieldOf(json, "date_parts", Json::value_t::array))
    FromJson(part, "date_parts", &input->parts.emplace_back());
  const bool is_date = input->format.kind == CellFormat::Kind::kDate && input->levels.empty();
  if (!is_date || !std::isfinite(input->first_date))
    ThrowError("column ", Quoted(input->name), " has parts of dates but holds none");
}

void ReadRange(const Json& json, InputRange* range) {
  range->low.resize(static_cast<Index>(json.size()));
  range->high.resize(static_cast<Index>(json.size()));
  for (std::size_t c = 0; c < json.size(); ++c) {
    const Json& ends = json[c];
    if (!ends.is_array() || ends.size() != 2)
      ThrowError("the range of an input is not two numbers");
    FromJson(ends[0], "range", &range->low[static_cast<Index>(c)]);
    FromJson(ends[1], "range", &range->high[static_cast<Index>(c)]);
  }
}

}  // namespace

Json ToJson(const Schema& schema) {
  Json json = {{"inputs", Json::array()},
               {"targets", ToJson(schema.targets)},
               {"classes", ToJson(schema.classes)},
               {"weights", schema.weights},
               {"unnamed_columns", schema.unnamed_columns}};
  for (const InputColumn& input : schema.inputs) json["inputs"].push_back(InputJson(input));
  for (const CellFormat& format : schema.target_formats)
    json["target_formats"].push_back(FormatJson(format));
  if (schema.weights_are_counts) json["weights_are_counts"] = true;
  if (!schema.missing.empty()) json["missing"] = ToJson(schema.missing);
  return json;
}

void FromJson(const Json& json, Schema* schema) {
  for (const Json& entry : FieldOf(json, "inputs", Json::value_t::array)) {
    if (!entry.is_object()) ThrowError("an input column is not described by an object");
    ReadInput(entry, &schema->inputs.emplace_back());
  }
  ReadField(json, "targets", &schema->targets);
  ReadOptionalField(json, "classes", &schema->classes);
  ReadField(json, "weights", &schema->weights);
  ReadField(json, "unnamed_columns", &schema->unnamed_columns);
  if (json.contains("target_formats")) {
    for (const Json& entry : FieldOf(json, "target_formats", Json::value_t::array))
      ReadFormat(entry, &schema->target_formats.emplace_back());
  }
  ReadOptionalField(json, "weights_are_counts", &schema->weights_are_counts);
  ReadOptionalField(json, "missing", &schema->missing);
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
  Json json = {{"fingerprint", data.fingerprint},
               {"origin", data.origin},
               {"settings", ToJson(data.settings)}};
  for (Index c = 0; c < data.range.low.size(); ++c)
    json["range"].push_back({ToJson(data.range.low[c]), ToJson(data.range.high[c])});
  return json;
}

void FromJson(const Json& json, TrainingData* data) {
  ReadField(json, "fingerprint", &data->fingerprint);
  ReadField(json, "origin", &data->origin);
  ReadOptionalField(json, "settings", &data->settings);
  if (json.contains("range")) ReadRange(FieldOf(json, "range", Json::value_t::array), &data->range);
}

void WriteScalers(const Scaler& inputs, const Scaler& targets, Json* description,
                  const ArrayWriter& arrays) {
  for (const auto& [name, array] : ScalerArrays(kInputs, inputs)) arrays.Write(name, *array);
  for (const auto& [name, array] : ScalerArrays(kTargets, targets)) arrays.Write(name, *array);
  if (const ColumnWarps& warps = inputs.warps; warps.size() > 0) {
    (*description)[kWarped] = warps.columns;
    arrays.Write(kKnots, warps.knots);
    arrays.Write(kScores, warps.scores);
  }
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
  if (description.contains(kWarped)) {
    ReadField(description, kWarped, &inputs->warps.columns);
    inputs->warps.knots = arrays.TakeMatrix(kKnots, inputs->warps.size(), kWarpKnots);
    inputs->warps.scores = arrays.TakeMatrix(kScores, inputs->warps.size(), kWarpKnots);
  }
  Index directions = 0;
  ReadOptionalField(description, kWhitened, &directions);
  if (description.contains(kWhitened))
    inputs->directions = arrays.TakeMatrix(kDirections, schema.width(), directions);
}

Json ParseDescription(const SafeTensors& content, const std::string& key) {
  const auto found = content.metadata.find(key);
  if (found == content.metadata.end()) ThrowError("its metadata have no ", Quoted(key));
  return ParseJson("its description", found->second, 10);
}

}  // namespace fathom
