#include "fathom/ensemble/kinds.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/small_ensemble.h"

namespace fathom {
namespace {

TEST(EnsembleKinds, AreLightUnlessMoreIsAskedFor) {
  const DatasetParts wave = Wave(100);
  Recipe recipe;
  const std::vector<Recipe> light = EnsembleKinds(recipe, wave);
  ASSERT_EQ(light.size(), 2U);
  EXPECT_TRUE(light[0].architecture.hidden.empty());
  EXPECT_EQ(light[1].architecture.hidden, recipe.architecture.hidden);
  EXPECT_EQ(light[1].architecture.inducing, (std::vector<Index>{32, 16}));
  EXPECT_EQ(light[1].optimizer.steps, light[1].low_noise_steps);
  for (const Recipe& kind : light) EXPECT_EQ(kind.stack, Stacking::kNever);
  recipe.stack = Stacking::kAlways;
  const std::vector<Recipe> best = EnsembleKinds(recipe, wave);
  ASSERT_EQ(best.size(), 3U);
  EXPECT_EQ(best[1].architecture.inducing, recipe.architecture.inducing);
  EXPECT_EQ(best[2].architecture.hidden.size(), recipe.architecture.hidden.size() + 1);
  recipe.local = Local::kOnly;
  EXPECT_TRUE(EnsembleKinds(recipe, wave).empty());
}

// Of many rows, specialists learn for longer instead, unless a size was asked for.
TEST(EnsembleKinds, AreLightForManyRowsToo) {
  const DatasetParts many = Wave(kManyRows);
  Recipe recipe;
  recipe.stack = Stacking::kAlways;
  const std::vector<Recipe> best = EnsembleKinds(recipe, many);
  ASSERT_EQ(best.size(), 2U);
  EXPECT_EQ(best[1].architecture.inducing, (std::vector<Index>{64, 32, 32}));
  recipe.architecture.inducing = {200};
  const std::vector<Recipe> asked = EnsembleKinds(recipe, many);
  ASSERT_EQ(asked.size(), 3U);
  EXPECT_EQ(asked[1].architecture.inducing, recipe.architecture.inducing);
}

TEST(MakesEnsemble, OfWhatCanBeLeftOutInTurn) {
  Recipe recipe = SmallStack();
  EXPECT_TRUE(MakesEnsemble(Wave(20), recipe));  // is asked for
  EXPECT_FALSE(MakesEnsemble(Wave(9), recipe));
  recipe.stack = Stacking::kNever;
  EXPECT_FALSE(MakesEnsemble(Wave(600), recipe));
  recipe.stack = Stacking::kAuto;
  const DatasetParts wave = Wave(50);
  EXPECT_TRUE(MakesEnsemble(wave, recipe));

  DatasetParts copies = wave;
  for (Index n = 5; n < copies.targets.rows(); ++n) {
    copies.inputs.mean.row(n) = copies.inputs.mean.row(n % 5);
    copies.targets.row(n) = copies.targets.row(n % 5);
  }
  EXPECT_FALSE(MakesEnsemble(copies, recipe));
  DatasetParts constant = wave;
  constant.targets.setOnes();
  EXPECT_FALSE(MakesEnsemble(constant, recipe));
  DatasetParts classes = wave;
  classes.targets = (wave.targets.array() > 0).cast<double>();
  classes.schema.classes = {"low", "high"};
  EXPECT_TRUE(MakesEnsemble(classes, recipe));
  const auto pays = [&](auto&& change) {
    Recipe changed = recipe;
    change(&changed);
    return MakesEnsemble(wave, changed);
  };
  EXPECT_FALSE(pays([](Recipe* r) { r->architecture.hidden = {}; }));
  EXPECT_FALSE(pays([](Recipe* r) { r->architecture.propagation = Propagation::kSamples; }));
  EXPECT_FALSE(pays([](Recipe* r) { r->architecture.full_covariance = true; }));
  EXPECT_FALSE(pays([](Recipe* r) { r->architecture.likelihood = "student_t"; }));
  EXPECT_FALSE(pays([](Recipe* r) { r->inference = Inference::kSep; }));
}

}  // namespace
}  // namespace fathom
