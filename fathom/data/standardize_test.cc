#include "fathom/data/standardize.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/random.h"
#include "tests/support/nan.h"

namespace fathom {
namespace {

TEST(FitScaler, BringsColumnsToMeanZeroAndDeviationOne) {
  RandomStream stream(1);
  Matrix values = stream.NormalMatrix(500, 3);
  values.col(1).array() = values.col(1).array() * 1e-7 + 3;
  values.col(2).array() *= 1e12;
  const Matrix scaled = StandardizeTargets(FitScaler(values), values);
  for (Index c = 0; c < 3; ++c) {
    EXPECT_NEAR(scaled.col(c).mean(), 0, 1e-8) << c;
    EXPECT_NEAR(scaled.col(c).squaredNorm() / 500, 1, 1e-12) << c;
  }
}

TEST(FitScaler, IgnoresMissingCells) {
  Matrix values(4, 2);
  values << kNaN, kNaN, 1, kNaN, 3, kNaN, kNaN, kNaN;
  const Scaler scaler = FitScaler(values);
  EXPECT_EQ(scaler.mean, Eigen::Vector2d(2, 0));
  EXPECT_EQ(scaler.scale, Eigen::Vector2d(1, 1));
  // Both have scale 1, but only the first column varied.
  EXPECT_EQ(scaler.missing_var, Eigen::Vector2d(1, 0));
}

TEST(FitScaler, MapsAConstantColumnToExactlyZero) {
  const Matrix values = Matrix::Constant(1000, 1, 0.1);  // a sum of tenths is not exact
  const Scaler scaler = FitScaler(values);
  EXPECT_EQ(scaler.mean[0], 0.1);
  EXPECT_EQ(scaler.scale[0], 1);
  EXPECT_EQ(StandardizeTargets(scaler, values), Matrix::Zero(1000, 1));
}

TEST(FitScaler, KeepsAccuracyAtAHugeOffset) {
  Matrix values(4, 1);
  values << 1e15 - 1, 1e15 + 1, 1e15 - 1, 1e15 + 1;
  const Scaler scaler = FitScaler(values);
  EXPECT_EQ(scaler.mean[0], 1e15);
  EXPECT_EQ(scaler.scale[0], 1);
  EXPECT_EQ(scaler.missing_var[0], 1);
}

TEST(FitScaler, NeitherOverflowsNorUnderflows) {
  Matrix values(2, 2);
  values << -1.5e308, 2e-310, 1.5e308, 4e-310;
  const Scaler scaler = FitScaler(values);
  EXPECT_DOUBLE_EQ(scaler.scale[0], 1.5e308);
  EXPECT_NEAR(scaler.scale[1] / 1e-310, 1, 1e-9);
  const Moments scaled = StandardizeInputs(scaler, Moments::Certain(values));
  EXPECT_NEAR(scaled.mean(0, 0), -1, 1e-12);
  EXPECT_NEAR(scaled.mean(1, 1), 1, 1e-9);
  EXPECT_EQ(scaled.var, Matrix::Zero(2, 2));
}

TEST(FitScaler, TakesOneRow) {
  const Scaler scaler = FitScaler(Matrix::Constant(1, 2, 7));
  EXPECT_EQ(scaler.mean, Eigen::Vector2d(7, 7));
  EXPECT_EQ(scaler.scale, Eigen::Vector2d(1, 1));
}

TEST(StandardizeInputs, ScalesVariancesAndFillsMissingCells) {
  Matrix training(2, 2);
  training << 1, 5, 5, 5;
  const Scaler scaler = FitScaler(training);  // means 3 and 5, scales 2 and 1
  Moments inputs(2, 2);
  inputs.mean << 7, 6, kNaN, kNaN;
  inputs.var << 4, 0.25, kNaN, kNaN;
  const Moments scaled = StandardizeInputs(scaler, inputs);
  Matrix mean(2, 2), var(2, 2);
  mean << 2, 1, 0, 0;
  var << 1, 0.25, 1, 0;
  EXPECT_EQ(scaled.mean, mean);
  EXPECT_EQ(scaled.var, var);
}

TEST(StandardizeInputs, TurnsColumnsAlongDirections) {
  Scaler scaler{Eigen::Vector2d(1, 2), Eigen::Vector2d(2, 4), Vector::Ones(2)};
  scaler.directions.resize(2, 1);
  scaler.directions << 3, -1;
  Moments inputs(2, 2);
  inputs.mean << 5, 10, kNaN, 6;
  inputs.var << 0, 16, kNaN, 0;
  const Moments turned = StandardizeInputs(scaler, inputs);
  ASSERT_EQ(turned.cols(), scaler.outputs());
  EXPECT_EQ(turned.mean, Eigen::Vector2d(3 * 2 - 2, -1));
  EXPECT_EQ(turned.var, Eigen::Vector2d(1, 9));
}

TEST(StandardizeTargets, KeepsMissingTargetsMissing) {
  const Scaler scaler{Vector::Ones(1), Vector::Ones(1), Vector::Ones(1)};
  EXPECT_TRUE(std::isnan(StandardizeTargets(scaler, Matrix::Constant(1, 1, kNaN))(0, 0)));
}

TEST(Unscale, UndoesTheStandardization) {
  RandomStream stream(2);
  const Matrix y = (stream.NormalMatrix(20, 2).array() * 5 + 100).matrix();
  const Scaler scaler = FitScaler(y);
  Prediction p =
      Prediction::Gaussian(Moments(StandardizeTargets(scaler, y), Matrix::Constant(20, 2, 0.25)));
  p.components.push_back(p.components[0]);
  p.weights = Eigen::Vector2d(0.5, 0.5);
  const Prediction unscaled = Unscale(scaler, p);
  EXPECT_LT((unscaled.Mean() - y).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_NEAR(std::sqrt(unscaled.components[1].var(3, 1)), 0.5 * scaler.scale[1], 1e-12);
  // A density changes by the Jacobian of the scaling.
  const Matrix scaled_y = StandardizeTargets(scaler, y);
  EXPECT_NEAR(unscaled.LogDensity(4, y.row(5)),
              p.LogDensity(4, scaled_y.row(5)) - scaler.scale.array().log().sum(), 1e-10);
}

TEST(Unscale, WorksForAConstantTarget) {
  const Scaler scaler = FitScaler(Matrix::Constant(3, 1, 42));
  const Prediction p = Unscale(
      scaler, Prediction::Gaussian(Moments(Matrix::Zero(1, 1), Matrix::Constant(1, 1, 0.04))));
  EXPECT_EQ(p.Mean()(0, 0), 42);
  EXPECT_EQ(p.Variance()(0, 0), 0.04);
}

}  // namespace
}  // namespace fathom
