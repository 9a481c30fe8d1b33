// Single values between C++ and JSON. Reading checks kind and range: an Error names the field, what
// it must be and what stands there.
#ifndef FATHOM_RECIPE_JSON_VALUE_H_
#define FATHOM_RECIPE_JSON_VALUE_H_

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "fathom/base/types.h"
#include "fathom/recipe/recipe.h"

namespace fathom {

// JSON has no NaN and no infinities; they become the texts "NaN", "Infinity" and "-Infinity".
nlohmann::json ToJson(double value);
nlohmann::json ToJson(bool value);
nlohmann::json ToJson(int value);
nlohmann::json ToJson(Index value);
nlohmann::json ToJson(std::uint64_t value);
nlohmann::json ToJson(const std::string& value);
nlohmann::json ToJson(const std::vector<Index>& value);
nlohmann::json ToJson(const std::vector<std::string>& value);
nlohmann::json ToJson(const std::map<std::string, std::vector<std::string>>& value);
nlohmann::json ToJson(Start value);
nlohmann::json ToJson(Propagation value);
nlohmann::json ToJson(StopReason value);
nlohmann::json ToJson(Inference value);
nlohmann::json ToJson(Precision value);
nlohmann::json ToJson(Whitening value);
nlohmann::json ToJson(Stacking value);

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
void FromJson(const nlohmann::json& json, const std::string& name, Start* value);
void FromJson(const nlohmann::json& json, const std::string& name, Propagation* value);
void FromJson(const nlohmann::json& json, const std::string& name, StopReason* value);
void FromJson(const nlohmann::json& json, const std::string& name, Inference* value);
void FromJson(const nlohmann::json& json, const std::string& name, Precision* value);
void FromJson(const nlohmann::json& json, const std::string& name, Whitening* value);
void FromJson(const nlohmann::json& json, const std::string& name, Stacking* value);

}  // namespace fathom

#endif  // FATHOM_RECIPE_JSON_VALUE_H_
