// What all formats of the model file describe alike: the schema, the recipe, the training and the
// scalers.
#ifndef FATHOM_FITTED_MODEL_PARTS_JSON_H_
#define FATHOM_FITTED_MODEL_PARTS_JSON_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "fathom/fitted/arrays.h"
#include "fathom/fitted/model.h"

namespace fathom {

nlohmann::json ToJson(const Schema& schema);
nlohmann::json ToJson(const TrainingSummary& summary);
nlohmann::json ToJson(const TrainingData& data);
void FromJson(const nlohmann::json& json, Schema* schema);
void FromJson(const nlohmann::json& json, TrainingSummary* summary);
void FromJson(const nlohmann::json& json, TrainingData* data);

// The number of whitened directions goes into the description, as "whitened_inputs", if there are
// any.
void WriteScalers(const Scaler& inputs, const Scaler& targets, nlohmann::json* description,
                  const ArrayWriter& arrays);
void ReadScalers(const nlohmann::json& description, const Schema& schema, const ArrayReader& arrays,
                 Scaler* inputs, Scaler* targets);

// Parses the entry `key` of the metadata. Throws Error if it is missing or no JSON of ours.
nlohmann::json ParseDescription(const SafeTensors& content, const std::string& key);

}  // namespace fathom

#endif  // FATHOM_FITTED_MODEL_PARTS_JSON_H_
