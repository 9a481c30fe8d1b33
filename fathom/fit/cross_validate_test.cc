#include "fathom/fit/cross_validate.h"

#include <gtest/gtest.h>

#include <string>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "fathom/fitted/predictor.h"
#include "tests/support/changed_model.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

DatasetParts Line(Index rows) {
  RandomStream stream(4);
  DatasetParts dataset;
  dataset.source = "line";
  dataset.schema = NumericSchema({"x"}, {"y"});
  const Matrix x = stream.NormalMatrix(rows, 1);
  dataset.inputs = Moments::Certain(x);
  dataset.targets = 2 * x + 0.1 * stream.NormalMatrix(rows, 1);
  return dataset;
}

Recipe QuickRecipe() {
  Recipe recipe;
  recipe.architecture.hidden = {};
  recipe.architecture.inducing = {5};
  recipe.optimizer.steps = 150;
  recipe.optimizer.warm_up = 10;
  recipe.threads = 1;
  return recipe;
}

std::vector<Split> Folds(Index rows) {
  RandomStream stream(1);
  return KFold(rows, 3, &stream);
}

TEST(CrossValidate, EveryRowIsPredictedByAModelThatHasNotSeenIt) {
  DatasetParts dataset = Line(30);
  const std::vector<Split> folds = Folds(30);
  const CrossValidation result = CrossValidate(dataset, QuickRecipe(), folds);
  for (std::size_t fold = 0; fold < folds.size(); ++fold) {
    for (const Index row : folds[fold].held_out)
      EXPECT_EQ(result.fold_of_row[static_cast<std::size_t>(row)], static_cast<Index>(fold));
  }
  EXPECT_LT(std::get<Scores>(result.scores.mean).rmse, 0.3);
  EXPECT_EQ(ScoredRows(result.scores.mean), 30);
  // A held-out target that changes moves the models of the other folds alone.
  const Index row = folds[1].held_out[0];
  dataset.targets(row, 0) += 5;
  const CrossValidation changed = CrossValidate(dataset, QuickRecipe(), folds);
  const auto mean = [](const CrossValidation& validation, Index n) {
    return std::get<Prediction>(validation.out_of_fold).Mean()(n, 0);
  };
  EXPECT_EQ(mean(changed, row), mean(result, row));
  EXPECT_NE(mean(changed, folds[0].held_out[0]), mean(result, folds[0].held_out[0]));
}

TEST(CrossValidate, AFoldThatCannotBeTrainedEndsAllOfThem) {
  for (const int threads : {1, 3}) {
    Recipe recipe = QuickRecipe();
    recipe.threads = threads;
    CrossValidationControl control;
    control.callback = [](const CrossValidationProgress& progress) -> bool {
      if (progress.folds_done == 0 && progress.fraction > 0.1) throw NumericalError("no way on");
      return true;
    };
    std::string error;
    try {
      CrossValidate(Line(30), recipe, Folds(30), control);
    } catch (const NumericalError& failure) {
      error = failure.what();
    }
    EXPECT_NE(error.find("fold "), std::string::npos) << error;
    EXPECT_NE(error.find("no way on"), std::string::npos) << error;
  }
}

TEST(CrossValidate, RefusesSplitsThatAreNone) {
  const auto error = [](const std::vector<Split>& splits) {
    Recipe recipe;
    return ErrorOf([&] { CrossValidate(Line(6), recipe, splits); });
  };
  const Split good{{0, 1, 2}, {3, 4, 5}};
  EXPECT_NE(error({}).find("at least 1"), std::string::npos);
  EXPECT_NE(error({good, {{0, 1}, {5}}}).find("row 5 is held out in two folds"), std::string::npos);
  EXPECT_NE(error({good, {{0, 6}, {2}}}).find("fold 2 names row 6"), std::string::npos);
  EXPECT_NE(error({good, {{0, 1}, {-1}}}).find("fold 2 names row -1"), std::string::npos);
  EXPECT_NE(error({good, {{0, 1}, {}}}).find("fold 2 has no rows to score"), std::string::npos);
}

}  // namespace
}  // namespace fathom
