#include "fathom/data/column_warps.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "fathom/data/standardize.h"

namespace fathom {
namespace {

using Mask = Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic>;

Matrix Normals(Index rows, Index cols) {
  RandomStream stream(3);
  Matrix x(rows, cols);
  for (Index n = 0; n < rows; ++n) {
    for (Index c = 0; c < cols; ++c) x(n, c) = stream.Normal();
  }
  return x;
}

ColumnWarps FitAll(const Matrix& x) {
  return FitWarps(x, Mask::Constant(x.rows(), x.cols(), true));
}

TEST(ColumnWarps, SkewedColumnsBecomeNormalAndOthersStay) {
  Matrix x = Normals(2000, 3);
  x.col(1) = x.col(1).array().exp();
  x.col(2) = (x.col(2).array() > 0).cast<double>();  // two values
  const ColumnWarps warps = FitAll(x);
  ASSERT_EQ(warps.columns, std::vector<Index>{1});
  Vector warped(x.rows());
  for (Index n = 0; n < x.rows(); ++n) warped[n] = WarpAt(warps, 0, x(n, 1)).value;
  EXPECT_NEAR(warped.mean(), 0, 0.02);
  const Eigen::ArrayXd z = warped.array() - warped.mean();
  const double sd = std::sqrt(z.square().mean());
  EXPECT_NEAR(sd, 1, 0.05);
  EXPECT_NEAR(z.cube().mean() / (sd * sd * sd), 0, 0.2);  // that of a lognormal is 6
}

TEST(ColumnWarps, RisesThroughItsKnotsAndGoesOnWithSlopeOne) {
  const ColumnWarps warps = FitAll(Normals(500, 1).array().exp());
  ASSERT_EQ(warps.size(), 1);
  for (Index k = 0; k < kWarpKnots; ++k)
    EXPECT_NEAR(WarpAt(warps, 0, warps.knots(0, k)).value, warps.scores(0, k), 1e-12);
  double before = -100;
  for (double x = -5; x < 60; x += 0.01) {
    const WarpedValue here = WarpAt(warps, 0, x);
    EXPECT_GT(here.value, before);
    before = here.value;
    const double step = 1e-7;
    const double slope = (WarpAt(warps, 0, x + step).value - here.value) / step;
    EXPECT_NEAR(here.slope, slope, 1e-4 * here.slope + 1e-4) << x;
  }
  const double last = warps.knots(0, kWarpKnots - 1);
  EXPECT_NEAR(WarpAt(warps, 0, last + 3).value - WarpAt(warps, 0, last).value, 3, 1e-12);
}

TEST(ColumnWarps, ColumnsOfFewValuesAreExactAtEachOfThem) {
  Matrix x(600, 1);
  for (Index n = 0; n < x.rows(); ++n) x(n, 0) = std::pow(3.0, static_cast<double>(n % 6));
  const ColumnWarps warps = FitAll(x);
  ASSERT_EQ(warps.size(), 1);
  for (int v = 0; v < 6; ++v) {
    // The mid-rank of the v-th of six equally frequent values.
    const double expected = NormalQuantile((v + 0.5) / 6);
    EXPECT_NEAR(WarpAt(warps, 0, std::pow(3.0, v)).value, expected, 1e-12);
  }
}

TEST(ColumnWarps, ScalerAppendsCurvesWithTheVariancesOfTheirCells) {
  Matrix x = Normals(400, 2);
  x.col(1) = x.col(1).array().exp();
  Scaler scaler = FitScaler(x);
  const Moments plain = StandardizeInputs(scaler, Moments::Certain(x));
  scaler.warps = FitAll(plain.mean);
  ASSERT_EQ(scaler.outputs(), 3);
  Moments inputs = Moments::Certain(x.topRows(3));
  inputs.var(1, 1) = 0.09;
  inputs.mean(2, 1) = std::nan("");
  const Moments out = StandardizeInputs(scaler, inputs);
  ASSERT_EQ(out.cols(), 3);
  for (Index n = 0; n < 2; ++n) {
    const WarpedValue warped = WarpAt(scaler.warps, 0, out.mean(n, 1));
    EXPECT_EQ(out.mean(n, 2), warped.value);
    EXPECT_EQ(out.var(n, 2), warped.slope * warped.slope * out.var(n, 1));
  }
  EXPECT_EQ(out.mean(2, 2), 0);
  EXPECT_EQ(out.var(2, 2), 1);
}

TEST(ColumnWarps, CurvesThatFallOrBelongToNoColumnAreRefused) {
  const ColumnWarps good = FitAll(Normals(100, 1).array().exp());
  ASSERT_EQ(good.size(), 1);
  CheckWarps(good, 1);
  EXPECT_THROW(CheckWarps(good, 0), Error);
  ColumnWarps falls = good;
  falls.scores(0, 3) = falls.scores(0, 2) - 1;
  EXPECT_THROW(CheckWarps(falls, 1), Error);
  ColumnWarps nan = good;
  nan.knots(0, 0) = std::nan("");
  EXPECT_THROW(CheckWarps(nan, 1), Error);
}

}  // namespace
}  // namespace fathom
