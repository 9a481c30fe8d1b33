// Fields of the JSON description in a model file. An Error names the field that is missing or that
// holds something else than it must.
#ifndef FATHOM_FITTED_DESCRIPTION_H_
#define FATHOM_FITTED_DESCRIPTION_H_

#include <nlohmann/json.hpp>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/io/json_value.h"

namespace fathom {

inline const nlohmann::json& FieldOf(const nlohmann::json& json, const char* key) {
  if (!json.is_object() || !json.contains(key)) ThrowError("its description has no ", Quoted(key));
  return json[key];
}

inline const nlohmann::json& FieldOf(const nlohmann::json& json, const char* key,
                                     nlohmann::json::value_t type) {
  const nlohmann::json& field = FieldOf(json, key);
  if (field.type() != type) ThrowError("its description has no usable ", Quoted(key));
  return field;
}

template <typename Value>
void ReadField(const nlohmann::json& json, const char* key, Value* value) {
  FromJson(FieldOf(json, key), key, value);
}

// Leaves *value as it is where there is no such field.
template <typename Value>
void ReadOptionalField(const nlohmann::json& json, const char* key, Value* value) {
  if (json.is_object() && json.contains(key)) ReadField(json, key, value);
}

}  // namespace fathom

#endif  // FATHOM_FITTED_DESCRIPTION_H_
