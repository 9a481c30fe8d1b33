#include "fathom/io/json_value.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/io/json_text.h"

namespace fathom {

namespace {

using Json = nlohmann::json;

[[noreturn]] void Refuse(const Json& json, const std::string& name, const std::string& what) {
  ThrowError(name, " must be ", what, ", not ", Quoted(JsonInAscii(json)));
}

template <typename Integer>
void WholeNumber(const Json& json, const std::string& name, Integer* value) {
  // As unsigned first: a JSON number above 2^63 is not representable as signed.
  if (json.is_number_unsigned() && std::in_range<Integer>(json.get<std::uint64_t>())) {
    *value = static_cast<Integer>(json.get<std::uint64_t>());
  } else if (json.is_number_integer() && !json.is_number_unsigned() &&
             std::in_range<Integer>(json.get<std::int64_t>())) {
    *value = static_cast<Integer>(json.get<std::int64_t>());
  } else {
    Refuse(json, name, "a whole number");
  }
}

template <typename Item>
void List(const Json& json, const std::string& name, std::vector<Item>* value) {
  if (!json.is_array()) Refuse(json, name, "a list");
  value->clear();
  for (std::size_t i = 0; i < json.size(); ++i) {
    FromJson(json[i], name + "[" + std::to_string(i) + "]", &value->emplace_back());
  }
}

}  // namespace

Json ToJson(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}
Json ToJson(bool value) { return value; }
Json ToJson(int value) { return value; }
Json ToJson(Index value) { return value; }
Json ToJson(std::uint64_t value) { return value; }
Json ToJson(const std::string& value) { return value; }
Json ToJson(const std::vector<Index>& value) { return value; }
Json ToJson(const std::vector<std::string>& value) { return value; }
Json ToJson(const std::map<std::string, std::vector<std::string>>& value) { return value; }

void FromJson(const Json& json, const std::string& name, double* value) {
  if (json.is_number()) {
    *value = json.get<double>();
  } else if (json == "NaN") {
    *value = std::numeric_limits<double>::quiet_NaN();
  } else if (json == "Infinity" || json == "-Infinity") {
    *value = (json == "Infinity" ? 1 : -1) * std::numeric_limits<double>::infinity();
  } else {
    Refuse(json, name, "a number");
  }
}
void FromJson(const Json& json, const std::string& name, bool* value) {
  if (!json.is_boolean()) Refuse(json, name, "true or false");
  *value = json.get<bool>();
}
void FromJson(const Json& json, const std::string& name, int* value) {
  WholeNumber(json, name, value);
}
void FromJson(const Json& json, const std::string& name, Index* value) {
  WholeNumber(json, name, value);
}
void FromJson(const Json& json, const std::string& name, std::uint64_t* value) {
  WholeNumber(json, name, value);
}
void FromJson(const Json& json, const std::string& name, std::string* value) {
  if (!json.is_string()) Refuse(json, name, "a text");
  *value = json.get<std::string>();
}
void FromJson(const Json& json, const std::string& name, std::vector<Index>* value) {
  List(json, name, value);
}
void FromJson(const Json& json, const std::string& name, std::vector<std::string>* value) {
  List(json, name, value);
}
void FromJson(const Json& json, const std::string& name,
              std::map<std::string, std::vector<std::string>>* value) {
  if (!json.is_object()) Refuse(json, name, "an object of lists");
  value->clear();
  const std::string start = name + ".";
  for (const auto& [key, list] : json.items()) FromJson(list, start + key, &(*value)[key]);
}

std::string NameFromJson(const Json& json, const std::string& name,
                         const std::vector<std::string>& names) {
  std::string known;
  for (const std::string& candidate : names) {
    if (json.is_string() && json.get_ref<const std::string&>() == candidate) return candidate;
    known += (known.empty() ? "'" : " or '") + candidate + "'";
  }
  Refuse(json, name, known);
}

}  // namespace fathom
