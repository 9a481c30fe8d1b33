#include "fathom/fitted/prediction_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "fathom/fit/fit.h"
#include "tests/support/changed_model.h"

namespace fathom {
namespace {

using Names = std::vector<std::string>;

Prediction TwoTargets() {
  Moments moments(2, 2);
  moments.mean << 1, 2, 3, 4;
  moments.var << 4, 9, 16, 25;
  return Prediction::Gaussian(moments);
}

TEST(PredictionTable, NumbersHaveMeanDeviationQuantilesAndDensity) {
  Moments moments(2, 1);
  moments.mean << 1, 3;
  moments.var << 4, 16;
  const Schema schema = NumericSchema({"x"}, {"y"});
  const Table table = PredictionTable(Prediction::Gaussian(moments), schema, Vector{{1, NAN}},
                                      {.quantiles = {0.025, 0.5}});
  EXPECT_EQ(table.columns, (Names{"mean", "std", "q025", "q50", "log_density"}));
  EXPECT_EQ(table.values(0, 0), 1);
  EXPECT_EQ(table.values(1, 1), 4);
  EXPECT_NEAR(table.values(0, 2), 1 - 2 * 1.959963984540054, 1e-12);
  EXPECT_EQ(table.values(1, 3), 3);
  EXPECT_NEAR(table.values(0, 4), -0.5 * std::log(2 * M_PI * 4), 1e-14);
  EXPECT_TRUE(std::isnan(table.values(1, 4))) << "a missing target has no density";
  EXPECT_TRUE(table.LevelsOf(0).empty());
}

TEST(PredictionTable, SeveralTargetsStandBeforeTheirColumns) {
  const Schema schema = NumericSchema({"x"}, {"a", "b"});
  const Matrix targets = (Matrix(2, 2) << 5, 6, 7, 8).finished();
  const Table table =
      PredictionTable(TwoTargets(), schema, targets, {.log_density = false, .targets = true});
  EXPECT_EQ(table.columns, (Names{"a_mean", "a_std", "a_target", "b_mean", "b_std", "b_target"}));
  EXPECT_EQ(table.values, (Matrix(2, 6) << 1, 2, 5, 2, 3, 6, 3, 4, 7, 4, 5, 8).finished());
  // Without targets nothing is said about them, whatever is asked for.
  EXPECT_EQ(PredictionTable(TwoTargets(), schema, Matrix(2, 0), {.targets = true}).columns,
            (Names{"a_mean", "a_std", "b_mean", "b_std"}));
}

TEST(PredictionTable, ClassesHaveTheMostProbableOneAndTheProbabilityOfEach) {
  Schema schema = NumericSchema({"x"}, {"kind"});
  schema.classes = {"cat", "dog", "eel"};
  const ClassPrediction prediction{(Matrix(2, 3) << 0.2, 0.7, 0.1, 0.5, 0.25, 0.25).finished()};
  const Table table = PredictionTable(prediction, schema, Vector{{2, NAN}}, {.targets = true});
  EXPECT_EQ(table.columns,
            (Names{"class", "p_cat", "p_dog", "p_eel", "target", "log_probability"}));
  EXPECT_EQ(table.LevelsOf(0), schema.classes);
  EXPECT_EQ(table.LevelsOf(4), schema.classes);
  EXPECT_TRUE(table.LevelsOf(1).empty());
  EXPECT_EQ(table.values(0, 0), 1);
  EXPECT_EQ(table.values(1, 0), 0);
  EXPECT_EQ(table.values(0, 3), 0.1);
  EXPECT_EQ(table.values(0, 4), 2);
  EXPECT_EQ(table.values(0, 5), std::log(0.1));
  EXPECT_TRUE(std::isnan(table.values(1, 5)));
  EXPECT_EQ(PredictionTable(prediction, schema, Matrix(2, 0)).columns,
            (Names{"class", "p_cat", "p_dog", "p_eel"}));
}

// Two classes to the left and right of 0, or the numbers themselves.
Dataset Rows(bool classes) {
  RandomStream stream(3);
  Table table{.source = "rows", .columns = {"x", "y"}, .values = stream.NormalMatrix(40, 2)};
  for (Index n = 0; n < 40; ++n) {
    if (classes) table.values(n, 1) = table.values(n, 0) > 0 ? 1 : 0;
  }
  if (classes) table.levels = {{}, {"left", "right"}};
  return MakeDataset(table, {"y"});
}

ModelPredictor Fitted(const Dataset& rows) {
  Recipe recipe;
  recipe.architecture.hidden = {};
  recipe.architecture.inducing = {5};
  recipe.optimizer.steps = 30;
  recipe.stack = Stacking::kNever;
  recipe.threads = 1;
  return ModelPredictor(Fit(rows, recipe), 1);
}

TEST(PredictTable, TheModelDecidesWhetherItPredictsNumbersOrClasses) {
  const Dataset numbers = Rows(false);
  const ModelPredictor of_numbers = Fitted(numbers);
  EXPECT_EQ(PredictTable(of_numbers, numbers).columns, (Names{"mean", "std", "log_density"}));
  EXPECT_EQ(PredictTable(of_numbers, numbers, {.latent = true}).columns, (Names{"mean", "std"}));
  EXPECT_EQ(PredictTable(of_numbers, numbers).source, "rows");

  const Dataset kinds = Rows(true);
  const ModelPredictor of_kinds = Fitted(kinds);
  const Table table = PredictTable(of_kinds, kinds, {}, {.quantiles = {0.5}});
  EXPECT_EQ(table.columns, (Names{"class", "p_left", "p_right", "log_probability"}));
  EXPECT_TRUE((table.values.col(1) + table.values.col(2)).isOnes(1e-12));
  // One function tells two classes apart, so it bears the target's name.
  EXPECT_EQ(PredictTable(of_kinds, kinds, {.latent = true}, {.quantiles = {0.5}}).columns,
            (Names{"mean", "std", "q50"}));
}

TEST(PredictTable, WhatIsNotFiniteIsAnErrorThatNamesTheTable) {
  const Dataset rows = Rows(false);
  const ModelPredictor model(WithNetwork(Fitted(rows).model(), [](DeepGp* network) {
    std::get<Whitened>(network->layers.back().gps[0].posterior).mu.setConstant(1e308);
  }));
  try {
    PredictTable(model, rows);
    FAIL() << "must throw";
  } catch (const NumericalError& error) {
    EXPECT_EQ(std::string(error.what()).find("rows: a prediction is not a finite number"), 0U)
        << error.what();
  }
}

}  // namespace
}  // namespace fathom
