// Training by EP and SEP, from a table to a saved model.
#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "fathom/data/test_folder.h"
#include "fathom/evaluate/metrics.h"
#include "fathom/fit/fit.h"

namespace fathom {
namespace {

Dataset Waves(Index rows) {
  RandomStream stream(1);
  const Matrix x = 3 * stream.NormalMatrix(rows, 1);
  const Matrix y = x.array().sin() + 0.1 * stream.NormalMatrix(rows, 1).array();
  Dataset dataset;
  dataset.source = "waves";
  dataset.input_names = {"x"};
  dataset.target_names = {"y"};
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
  const Dataset dataset = Waves(80);
  for (const std::vector<Index>& hidden : {std::vector<Index>{}, {2}}) {
    Recipe recipe;
    recipe.inference = GetParam();
    recipe.architecture.hidden = hidden;
    recipe.architecture.inducing = {12, 8};
    recipe.optimizer.steps = 60;
    recipe.optimizer.batch_size = 50;
    const Model model = Fit(dataset, recipe);
    EXPECT_EQ(model.summary.steps, 60);
    EXPECT_TRUE(std::isfinite(model.summary.energy_per_row));
    const Matrix mean = ModelPredictor(model).Predict(dataset.inputs).Mean();
    EXPECT_LT(std::sqrt((mean - dataset.targets).squaredNorm() / 80), 0.3);

    const TestFolder folder;
    const std::string path = folder.Path("model");
    SaveModel(model, path);
    const Model loaded = LoadModel(path);
    EXPECT_EQ(loaded.recipe.inference, GetParam());
    EXPECT_EQ(ModelPredictor(loaded).Predict(dataset.inputs).Mean(), mean);
  }
}

TEST_P(FitBy, StopsWhenAsked) {
  Recipe recipe;
  recipe.inference = GetParam();
  recipe.architecture.hidden = {1};
  recipe.architecture.inducing = {6};
  FitControl control;
  control.callback = [](const Progress& progress, const MinimizeState&) {
    return progress.step < 3;
  };
  const Model model = Fit(Waves(40), recipe, control);
  EXPECT_EQ(model.summary.reason, StopReason::kInterrupted);
  EXPECT_EQ(model.summary.steps, 3);
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
