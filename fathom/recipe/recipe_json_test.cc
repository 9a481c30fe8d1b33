#include "fathom/recipe/recipe_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/test_folder.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

// Every leaf changed to another value of its kind.
Json Changed(Json json) {
  for (auto& [key, value] : json.items()) {
    if (value.is_object()) {
      value = Changed(value);
    } else if (value.is_boolean()) {
      value = !value.get<bool>();
    } else if (value.is_number_integer()) {
      value = value.get<Index>() + 1;
    } else if (value.is_number()) {
      value = value.get<double>() / 3 + 0.1;
    } else if (value.is_array()) {
      value.push_back(7);
    } else if (key == "start") {
      value = "paper";
    } else if (key == "inference") {
      value = "sep";
    } else if (key == "whitening" || key == "warping" || key == "stack") {
      value = "always";
    } else if (key == "target_kind") {
      value = "plain";
    } else if (key == "local") {
      value = "only";
    } else if (key == "precision") {
      value = "mixed";
    } else if (key == "propagation") {
      value = "points";
    } else {
      value = value.get<std::string>() + "?";
    }
  }
  return json;
}

TEST(RecipeJson, EveryFieldComesBack) {
  const Json defaults = RecipeToJson(Recipe());
  const Json changed = Changed(defaults);
  const Json before = defaults.flatten();
  const Json after = changed.flatten();
  for (const auto& [name, value] : before.items()) {
    // A list keeps what it has and grows.
    const bool in_list = name.ends_with("/0") || name.ends_with("/1");
    EXPECT_EQ(after[name] == value, in_list) << name;
  }
  Recipe recipe;
  UpdateRecipe(Json::parse(changed.dump()), &recipe);
  EXPECT_EQ(RecipeToJson(recipe), changed);
}

TEST(RecipeJson, FieldsThatAreNotNamedStay) {
  Recipe recipe;
  recipe.alpha = 0.25;
  UpdateRecipe(Json::parse(R"({"optimizer": {"steps": 12}, "seed": 9})"), &recipe);
  EXPECT_EQ(recipe.alpha, 0.25);
  EXPECT_EQ(recipe.optimizer.steps, 12);
  EXPECT_EQ(recipe.optimizer.batch_size, Recipe().optimizer.batch_size);
  EXPECT_EQ(recipe.seed, 9U);
}

TEST(RecipeJson, WhatCannotBeIsRefusedByName) {
  const auto error = [](const char* text) {
    return ErrorOf([&] {
      Recipe recipe;
      UpdateRecipe(Json::parse(text), &recipe);
    });
  };
  EXPECT_EQ(error(R"({"optimizer": {"stepz": 1}})"), "recipe field 'optimizer.stepz' is not known");
  EXPECT_EQ(error(R"({"optimizer": 3})"), "recipe field 'optimizer' is not known");
  EXPECT_EQ(error(R"({"seed": -1})"), "recipe field seed must be a whole number, not '-1'");
  EXPECT_EQ(error(R"({"threads": 4000000000})"),
            "recipe field threads must be a whole number, not '4000000000'");
  EXPECT_EQ(error(R"({"architecture": {"hidden": [2, "x"]}})"),
            "recipe field architecture.hidden[1] must be a whole number, not '\"x\"'");
  EXPECT_EQ(error(R"({"start": {"start": "warm"}})"),
            "recipe field start.start must be 'principal' or 'paper', not '\"warm\"'");
  EXPECT_EQ(error("[]"), "the recipe must be an object of fields");
}

}  // namespace
}  // namespace fathom
