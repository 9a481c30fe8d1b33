// Single values between C++ and JSON. Reading checks the kind: an Error names the field, what it
// must be and what stands there.
#ifndef FATHOM_IO_JSON_VALUE_H_
#define FATHOM_IO_JSON_VALUE_H_

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "fathom/base/enum_names.h"
#include "fathom/base/types.h"

namespace fathom {

// JSON has no NaN and no infinities; they become the strings "NaN", "Infinity" and "-Infinity".
nlohmann::json ToJson(double value);
nlohmann::json ToJson(bool value);
nlohmann::json ToJson(int value);
nlohmann::json ToJson(Index value);
nlohmann::json ToJson(std::uint64_t value);
nlohmann::json ToJson(const std::string& value);
nlohmann::json ToJson(const std::vector<Index>& value);
nlohmann::json ToJson(const std::vector<std::string>& value);
nlohmann::json ToJson(const std::map<std::string, std::vector<std::string>>& value);

void FromJson(const nlohmann::json& json, const std::string& name, double* value);
void FromJson(const nlohmann::json& json, const std::string& name, bool* value);
void FromJson(const nlohmann::json& json, const std::string& name, int* value);
void FromJson(const nlohmann::json& json, const std::string& name, Index* value);
void FromJson(const nlohmann::json& json, const std::string& name, std::uint64_t* value);
void FromJson(const nlohmann::json& json, const std::string& name, std::string* value);
void FromJson(const nlohmann::json& json, const std::string& name, std::vector<Index>* value);
void FromJson(const nlohmann::json& json, const std::string& name, std::vector<std::string>* value);
void FromJson(const nlohmann::json& json, const std::string& name,
              std::map<std::string, std::vector<std::string>>* value);

// The string that `json` holds, which must be one of `names`.
std::string NameFromJson(const nlohmann::json& json, const std::string& name,
                         const std::vector<std::string>& names);

// An enum is written by its name. (The type is a parameter because here it is only declared.)
template <NamedEnum Enum, typename Json = nlohmann::json>
Json ToJson(Enum value) {
  return ToJson(NameOf(value));
}
template <NamedEnum Enum>
void FromJson(const nlohmann::json& json, const std::string& name, Enum* value) {
  FromName(NameFromJson(json, name, AllNames<Enum>()), value);
}

}  // namespace fathom

#endif  // FATHOM_IO_JSON_VALUE_H_
