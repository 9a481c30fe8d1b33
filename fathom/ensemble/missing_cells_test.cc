// What an ensemble makes of cells that are missing or uncertain, in the training and afterwards.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fathom/base/random.h"
#include "fathom/fit/fit.h"
#include "fathom/fitted/predictor.h"

namespace fathom {
namespace {

// y = 10 a + sin(3 a) with hardly any noise: a line, and what it leaves over for neighbours.
DatasetParts SteepWave(std::uint64_t seed) {
  constexpr Index kRows = 150;
  RandomStream stream(seed);
  DatasetParts dataset;
  dataset.schema = NumericSchema({"a"}, {"y"});
  dataset.inputs = Moments::Certain(stream.NormalMatrix(kRows, 1));
  dataset.targets = 10 * dataset.inputs.mean.array() + (3 * dataset.inputs.mean.array()).sin();
  dataset.targets += 0.05 * stream.NormalMatrix(kRows, 1);
  return dataset;
}

Model FitNeighboursOnALine(const DatasetParts& dataset) {
  Recipe recipe;
  recipe.local = Local::kOnly;
  recipe.threads = 1;
  return Fit(dataset, recipe);
}

// Rows whose one input is not known are off by 10 whatever the members do; what these say of the
// other rows must be heard all the same.
TEST(MissingCells, DoNotHideWhatTheOtherRowsTell) {
  DatasetParts dataset = SteepWave(5);
  for (Index n = 0; n < dataset.inputs.rows(); n += 12) {
    dataset.inputs.mean(n, 0) = 0;
    dataset.inputs.var(n, 0) = 1;
  }
  Matrix known(1, 1);
  known << 0.5;
  const ModelPredictor predictor(FitNeighboursOnALine(dataset), 1);
  EXPECT_NEAR(predictor.Predict(Moments::Certain(known)).Mean()(0, 0), 5 + std::sin(1.5), 0.2);
}

// What the line does not know of a row that lacks its cell, the neighbours on it do not know
// either: 10 * 0.5 on either side.
TEST(MissingCells, WidenWhatIsBuiltOnALine) {
  const ModelPredictor predictor(FitNeighboursOnALine(SteepWave(6)), 1);
  Moments rows(2, 1);
  rows.mean.setZero();
  rows.var << 0, 0.25;
  const Matrix sd = predictor.Predict(rows).Variance().cwiseSqrt();
  EXPECT_LT(sd(0, 0), 0.2);
  EXPECT_GT(sd(1, 0), 4);
  EXPECT_LT(sd(1, 0), 8);
  const Matrix from_cells = predictor.VarianceFromCells(rows).cwiseSqrt();
  EXPECT_EQ(from_cells(0, 0), 0);
  EXPECT_GT(from_cells(1, 0), 4);
  const Matrix together = predictor.PredictJoint(rows).Variance().cwiseSqrt();
  EXPECT_NEAR(together(1, 0), sd(1, 0), 1e-9);
}

// Whether skewed columns are warped is decided by what is known of the targets.
TEST(MissingCells, OfATargetDoNotDecideAboutSkewedColumns) {
  RandomStream stream(7);
  constexpr Index kRows = 200;
  DatasetParts dataset;
  dataset.schema = NumericSchema({"a", "b"}, {"y", "z"});
  const Matrix logs = 1.5 * stream.NormalMatrix(kRows, 2);
  dataset.inputs = Moments::Certain(logs.array().exp());
  dataset.targets = logs + 0.1 * stream.NormalMatrix(kRows, 2);
  dataset.targets(11, 1) = std::numeric_limits<double>::quiet_NaN();
  const Model model = FitNeighboursOnALine(dataset);
  EXPECT_EQ(model.members().front().input_scaler.warps.size(), 2);
}

}  // namespace
}  // namespace fathom
