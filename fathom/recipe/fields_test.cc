#include "fathom/recipe/fields.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "fathom/kernel/kernel.h"
#include "fathom/recipe/recipe_json.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

TEST(RecipeFields, EachIsDescribedOnce) {
  Recipe recipe;
  std::set<std::string> names;
  std::set<std::string> options;
  for (const Field& field : RecipeFields(&recipe)) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_FALSE(field.help.empty()) << field.name;
    if (!field.option.empty()) {
      EXPECT_TRUE(options.insert(field.option).second) << field.option;
    }
    if (const Choice* choice = std::get_if<Choice>(&field.value)) {
      EXPECT_EQ(std::count(field.choices.begin(), field.choices.end(), choice->get()), 1)
          << field.name;
    }
  }
  // As many as JSON has leaves, where a list is one.
  std::size_t leaves = 0;
  const nlohmann::json flat = RecipeToJson(recipe).flatten();
  for (const auto& [name, value] : flat.items()) leaves += name.ends_with("/1") ? 0 : 1;
  EXPECT_EQ(names.size(), leaves);
}

TEST(RecipeFields, TheKindsThatAreNamedExist) {
  Recipe recipe;
  for (const Field& field : RecipeFields(&recipe)) {
    for (const std::string& kind : field.choices) {
      if (field.name == "architecture.kernel") {
        EXPECT_EQ(MakeKernel(kind)->Name(), kind);
      } else if (field.name == "architecture.likelihood") {
        EXPECT_NE(field.help.find(kind), std::string::npos);
      }
    }
  }
}

TEST(RecipeFields, ARangeSaysWhatItIs) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ((Range{.low = 0, .high = 1}).Describe(), "from 0 to 1");
  EXPECT_EQ((Range{.low = 1}).Describe(), "at least 1");
  EXPECT_EQ((Range{.low = 0, .high = 10, .above_low = true}).Describe(), "positive and at most 10");
  EXPECT_EQ((Range{.low = 0, .above_low = true}).Describe(), "positive and finite");
  EXPECT_EQ((Range{.low = 0, .high = 1e15}).Describe(), "from 0 to 1e15");
  EXPECT_EQ(Range().Describe(), "finite");
  EXPECT_TRUE((Range{.low = 0, .high = 1}).Contains(0));
  EXPECT_FALSE((Range{.low = 0, .above_low = true}).Contains(0));
  EXPECT_FALSE((Range{.low = 0}).Contains(infinity));
  EXPECT_FALSE(Range().Contains(std::nan("")));
}

TEST(CheckRecipe, NamesTheFieldTheRuleAndTheValue) {
  const auto error = [](const char* json) {
    return ErrorOf([&] {
      Recipe recipe;
      UpdateRecipe(nlohmann::json::parse(json), &recipe);
      CheckRecipe(recipe);
    });
  };
  EXPECT_NO_THROW(CheckRecipe(Recipe()));
  EXPECT_EQ(error(R"({"optimizer": {"learning_rate": -1}})"),
            "optimizer.learning_rate must be positive and at most 10, not -1");
  EXPECT_EQ(error(R"({"alpha": "NaN"})"), "alpha must be from 0 to 1, not nan");
  EXPECT_EQ(error(R"({"architecture": {"hidden": [3, 0]}})"),
            "architecture.hidden must be from 1 to 1000, not 0");
  EXPECT_EQ(error(R"({"architecture": {"inducing": []}})"),
            "architecture.inducing must be a list of at least one number, not empty");
  EXPECT_EQ(error(R"({"inference": "ep", "architecture": {"full_covariance": true}})"),
            "inference must be 'aep' with full covariances, not 'ep'");
  EXPECT_EQ(error(R"({"architecture": {"site_form": true}})"),
            "start.start must be 'paper' with the site form, not 'principal'");
}

TEST(DescribeRecipe, HoldsWhatOthersNeed) {
  const nlohmann::ordered_json list = DescribeRecipe();
  const auto rate = std::find_if(list.begin(), list.end(), [](const auto& field) {
    return field["name"] == "optimizer.learning_rate";
  });
  ASSERT_NE(rate, list.end());
  EXPECT_EQ((*rate)["kind"], "number");
  EXPECT_EQ((*rate)["default"], Recipe().optimizer.learning_rate);
  EXPECT_EQ((*rate)["allowed"], "positive and at most 10");
  EXPECT_EQ((*rate)["high"], 10);
  EXPECT_EQ((*rate)["option"], "--learning-rate");
}

}  // namespace
}  // namespace fathom
