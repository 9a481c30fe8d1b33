// Training by EP and SEP, from a table to a saved model.
#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "fathom/evaluate/metrics.h"
#include "fathom/fit/resume.h"
#include "fathom/fitted/predictor.h"
#include "tests/support/changed_model.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

DatasetParts Waves(Index rows) {
  RandomStream stream(1);
  const Matrix x = 3 * stream.NormalMatrix(rows, 1);
  const Matrix y = x.array().sin() + 0.1 * stream.NormalMatrix(rows, 1).array();
  DatasetParts dataset;
  dataset.source = "waves";
  dataset.schema = NumericSchema({"x"}, {"y"});
  dataset.inputs = Moments::Certain(x);
  dataset.targets = y;
  return dataset;
}

class FitBy : public testing::TestWithParam<Inference> {};
INSTANTIATE_TEST_SUITE_P(Moments, FitBy, testing::Values(Inference::kSep, Inference::kEp),
                         [](const auto& test) {
                           return test.param == Inference::kEp ? "Ep" : "Sep";
                         });

TEST_P(FitBy, LearnsAndSavesAnOrdinaryModel) {
  const DatasetParts dataset = Waves(80);
  for (const std::vector<Index>& hidden : {std::vector<Index>{}, {2}}) {
    Recipe recipe;
    recipe.inference = GetParam();
    recipe.architecture.hidden = hidden;
    recipe.architecture.inducing = {12, 8};
    recipe.optimizer.steps = 60;
    recipe.optimizer.batch_size = 50;
    const Model model = Fit(dataset, recipe);
    EXPECT_EQ(model.summary().steps, 60);
    EXPECT_TRUE(std::isfinite(model.summary().energy_per_row));
    const Matrix mean = ModelPredictor(model).Predict(dataset.inputs).Mean();
    EXPECT_LT(std::sqrt((mean - dataset.targets).squaredNorm() / 80), 0.3);

    const TestFolder folder;
    const std::string path = folder.Path("model");
    SaveModel(model, path);
    const Model loaded = LoadModel(path);
    EXPECT_EQ(loaded.recipe().inference, GetParam());
    EXPECT_EQ(ModelPredictor(loaded).Predict(dataset.inputs).Mean(), mean);
  }
}

TEST_P(FitBy, StopsWhenAsked) {
  Recipe recipe;
  recipe.inference = GetParam();
  recipe.architecture.hidden = {1};
  recipe.architecture.inducing = {6};
  FitControl control;
  control.callback = [](const Progress& progress) { return progress.step < 3; };
  const Model model = Fit(Waves(40), recipe, control);
  EXPECT_EQ(model.summary().reason, StopReason::kInterrupted);
  EXPECT_EQ(model.summary().steps, 3);
}

Recipe SmallRecipe(Inference inference) {
  Recipe recipe;
  recipe.inference = inference;
  recipe.architecture.hidden = {2};
  recipe.architecture.inducing = {8, 6};
  recipe.optimizer.steps = 8;
  recipe.optimizer.batch_size = 20;
  return recipe;
}

TEST_P(FitBy, ResumesToTheSameBits) {
  const DatasetParts dataset = Waves(40);
  const Recipe recipe = SmallRecipe(GetParam());
  const Model whole = Fit(dataset, recipe);
  const TestFolder folder;
  FitControl control;
  control.checkpoint = folder.Path("checkpoint");
  control.callback = [](const Progress& progress) { return progress.step < 5; };
  EXPECT_EQ(Fit(dataset, recipe, control).summary().steps, 5);
  const Model resumed = Resume(dataset, LoadCheckpoint(control.checkpoint));
  EXPECT_EQ(resumed.summary().steps, 8);
  EXPECT_EQ(resumed.summary().energy_per_row, whole.summary().energy_per_row);
  EXPECT_EQ(ModelPredictor(resumed).Predict(dataset.inputs).Mean(),
            ModelPredictor(whole).Predict(dataset.inputs).Mean());
  // A checkpoint is a model, too.
  EXPECT_EQ(LoadModel(control.checkpoint).summary().steps, 5);
}

TEST_P(FitBy, ACheckpointWithoutItsFactorsIsRefused) {
  const DatasetParts dataset = Waves(40);
  const TestFolder folder;
  FitControl control;
  control.checkpoint = folder.Path("checkpoint");
  control.callback = [](const Progress&) { return false; };
  Fit(dataset, SmallRecipe(GetParam()), control);
  Checkpoint checkpoint = LoadCheckpoint(control.checkpoint);
  ASSERT_EQ(checkpoint.factors.arrays.count("1.0"), 1U);
  checkpoint.factors.arrays.erase("1.0");
  EXPECT_NE(ErrorOf([&] { Resume(dataset, checkpoint); }).find("'1.0'"), std::string::npos);
}

TEST_P(FitBy, GoesOnFromAFinishedModelAndTellsOfEveryPass) {
  const DatasetParts dataset = Waves(40);
  const Model model = Fit(dataset, SmallRecipe(GetParam()));
  EXPECT_GT(model.summary().largest_jitter, 0);
  std::vector<Index> steps;
  FitControl control;
  control.on_epoch = [&](const EpochMetrics& metrics) {
    steps.push_back(metrics.step);
    EXPECT_GT(metrics.noise_std[0], 0);
  };
  const Model further = Resume(dataset, StartAgain(model, 4), control);
  EXPECT_EQ(further.summary().steps, 12);
  // EP sees the table in each step, SEP in every second.
  EXPECT_EQ(steps, GetParam() == Inference::kEp ? (std::vector<Index>{9, 10, 11, 12})
                                                : (std::vector<Index>{10, 12}));
}

TEST_P(FitBy, SiteFormIsRefused) {
  Recipe recipe;
  recipe.inference = GetParam();
  recipe.architecture.site_form = true;
  recipe.start.start = Start::kPaper;
  EXPECT_THROW(CheckRecipe(recipe), Error);
}

}  // namespace
}  // namespace fathom
