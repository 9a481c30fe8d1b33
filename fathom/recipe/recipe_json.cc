#include "fathom/recipe/recipe_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/io/json_value.h"
#include "fathom/recipe/fields.h"

namespace fathom {

namespace {

using Json = nlohmann::json;

Json::json_pointer Pointer(std::string name) {
  std::replace(name.begin(), name.end(), '.', '/');
  return Json::json_pointer("/" + name);
}

// The dotted name of some field in what is left; empty if nothing is.
std::string FirstField(const Json& json, const std::string& prefix) {
  if (!json.is_object()) return prefix;
  for (const auto& [key, value] : json.items()) {
    std::string name = prefix;
    if (!name.empty()) name += '.';
    name += key;
    std::string found = FirstField(value, name);
    if (!found.empty()) return found;
  }
  return {};
}

struct Write {
  Json operator()(const Choice& choice) const { return choice.get(); }
  template <typename Value>
  Json operator()(const Value* value) const {
    return ToJson(*value);
  }
};

struct Read {
  const Json& json;
  const Field& field;

  std::string Name() const { return "recipe field " + field.name; }
  void operator()(const Choice& choice) const {
    choice.set(NameFromJson(json, Name(), field.choices));
  }
  template <typename Value>
  void operator()(Value* value) const {
    FromJson(json, Name(), value);
  }
};

}  // namespace

Json RecipeToJson(const Recipe& recipe) {
  Recipe copy = recipe;
  Json json = Json::object();
  for (const Field& field : RecipeFields(&copy))
    json[Pointer(field.name)] = std::visit(Write(), field.value);
  return json;
}

void UpdateRecipe(const Json& json, Recipe* recipe) {
  if (!json.is_object()) ThrowError("the recipe must be an object of fields");
  Json rest = json;
  // Files of earlier versions have a flag here.
  if (const auto stack = rest.find("stack"); stack != rest.end() && stack->is_boolean())
    *stack = ToJson(stack->get<bool>() ? Stacking::kAlways : Stacking::kNever);
  for (const Field& field : RecipeFields(recipe)) {
    const Json::json_pointer pointer = Pointer(field.name);
    if (!rest.contains(pointer)) continue;
    std::visit(Read{rest[pointer], field}, field.value);
    rest[pointer.parent_pointer()].erase(pointer.back());
  }
  const std::string unknown = FirstField(rest, "");
  if (!unknown.empty()) ThrowError("recipe field ", Quoted(unknown), " is not known");
}

nlohmann::ordered_json DescribeRecipe() {
  Recipe defaults;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Field& field : RecipeFields(&defaults)) {
    nlohmann::ordered_json entry = {
        {"name", field.name},
        {"kind", KindOf(field)},
        {"default", nlohmann::ordered_json(std::visit(Write(), field.value))}};
    if (field.range.Bounded()) entry["allowed"] = field.range.Describe();
    if (std::isfinite(field.range.low)) entry["low"] = field.range.low;
    if (std::isfinite(field.range.high)) entry["high"] = field.range.high;
    if (field.range.above_low) entry["above_low"] = true;
    if (!field.choices.empty()) entry["choices"] = field.choices;
    if (!field.unit.empty()) entry["unit"] = field.unit;
    if (!field.option.empty()) entry["option"] = "--" + field.option;
    entry["help"] = field.help;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace fathom
