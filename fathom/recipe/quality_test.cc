#include "fathom/recipe/quality.h"

#include <gtest/gtest.h>

#include <set>

namespace fathom {
namespace {

Recipe WithQuality(Quality quality, const std::set<std::string>& given, Recipe recipe = {}) {
  ApplyQuality(
      quality, [&](const std::string& field) { return given.contains(field); }, &recipe);
  return recipe;
}

TEST(Quality, DefaultChangesNothing) {
  const Recipe recipe = WithQuality(Quality::kDefault, {});
  EXPECT_EQ(recipe.architecture.hidden, Recipe().architecture.hidden);
  EXPECT_EQ(recipe.stack, Stacking::kAuto);
}

TEST(Quality, FastIsOneSmallNetwork) {
  const Recipe recipe = WithQuality(Quality::kFast, {});
  EXPECT_EQ(recipe.architecture.hidden, std::vector<Index>{3});
  EXPECT_EQ(recipe.architecture.inducing, (std::vector<Index>{50, 30}));
  EXPECT_EQ(recipe.stack, Stacking::kNever);
}

TEST(Quality, WhoAsksForANetworkGetsThatOne) {
  for (const char* field : {"architecture.hidden", "architecture.inducing", "optimizer.steps"}) {
    EXPECT_EQ(WithQuality(Quality::kDefault, {field}).stack, Stacking::kNever) << field;
    EXPECT_EQ(WithQuality(Quality::kBest, {field}).stack, Stacking::kAlways) << field;
  }
  EXPECT_EQ(WithQuality(Quality::kDefault, {"alpha"}).stack, Stacking::kAuto);
}

// Section 4.1 of the paper, line by line.
TEST(Quality, PaperIsItsRecipe) {
  const Recipe recipe = WithQuality(Quality::kPaper, {});
  EXPECT_EQ(recipe.architecture.hidden, std::vector<Index>{3});
  EXPECT_EQ(recipe.architecture.inducing, std::vector<Index>{100});
  EXPECT_EQ(recipe.architecture.kernel, "se_ard");
  EXPECT_FALSE(recipe.architecture.shared);
  EXPECT_FALSE(recipe.architecture.linear_mean);
  EXPECT_TRUE(recipe.architecture.site_form);
  EXPECT_EQ(recipe.start.start, Start::kPaper);
  EXPECT_EQ(recipe.inference, Inference::kAep);
  EXPECT_EQ(recipe.alpha, 1);
  EXPECT_EQ(recipe.lengthscale_prior, 0);
  EXPECT_EQ(recipe.optimizer.learning_rate, 0.001);
  EXPECT_FALSE(recipe.optimizer.decay);
  EXPECT_EQ(recipe.optimizer.warm_up, 0);
  EXPECT_EQ(recipe.stack, Stacking::kNever);
  EXPECT_NO_THROW(CheckRecipe(recipe));
}

TEST(Quality, PaperKeepsWhatIsGiven) {
  Recipe asked;
  asked.architecture.hidden = {};
  asked.alpha = 0.5;
  const Recipe recipe = WithQuality(Quality::kPaper, {"architecture.hidden", "alpha"}, asked);
  EXPECT_TRUE(recipe.architecture.hidden.empty());
  EXPECT_EQ(recipe.alpha, 0.5);
  EXPECT_EQ(recipe.lengthscale_prior, 0);
}

TEST(Quality, WhatIsGivenStays) {
  Recipe asked;
  asked.architecture.hidden = {7};
  asked.stack = Stacking::kAuto;
  const Recipe recipe = WithQuality(Quality::kFast, {"architecture.hidden", "stack"}, asked);
  EXPECT_EQ(recipe.architecture.hidden, std::vector<Index>{7});
  EXPECT_EQ(recipe.stack, Stacking::kAuto);
}

}  // namespace
}  // namespace fathom
