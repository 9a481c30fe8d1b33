#include "fathom/fitted/prediction_arrays.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/error.h"

namespace fathom {
namespace {

// 200 rows of two outputs, row n has means n and -n and standard deviations 1 and 2.
Prediction TwoOutputs() {
  Moments moments(200, 2);
  for (Index n = 0; n < 200; ++n) {
    moments.mean.row(n) << static_cast<double>(n), -static_cast<double>(n);
    moments.var.row(n) << 1, 4;
  }
  return Prediction::Gaussian(moments);
}

TEST(PredictionArrays, HoldWhatThePredictionSaysOfEachCell) {
  const Prediction prediction = TwoOutputs();
  const ThreadPool pool(3);
  const Matrix q = Quantiles(prediction, {0.1, 0.5, 0.9}, pool);
  ASSERT_EQ(q.cols(), 6);
  const Matrix cdf = Cdfs(prediction, q, pool);
  for (Index n = 0; n < 200; ++n) {
    EXPECT_EQ(q(n, 2), prediction.Quantile(n, 0, 0.9));
    EXPECT_EQ(q(n, 3), prediction.Quantile(n, 1, 0.1));
    EXPECT_NEAR(cdf(n, 5), 0.9, 1e-12);
  }
  const Matrix density = LogDensities(prediction, q, pool);
  ASSERT_EQ(density.cols(), 3);
  EXPECT_EQ(density(7, 1), prediction.LogDensity(7, Eigen::RowVector2d(q(7, 1), q(7, 4))));
  const Matrix crps = CrpsOf(prediction, Matrix::Zero(200, 2), pool);
  EXPECT_EQ(crps(150, 1), prediction.Crps(150, 1, 0));
}

TEST(PredictionArrays, MissingCellsStayMissing) {
  const Prediction prediction = TwoOutputs();
  Matrix y = Matrix::Zero(200, 2);
  y(3, 1) = y(4, 0) = y(4, 1) = std::nan("");
  const ThreadPool pool(1);
  EXPECT_FALSE(std::isnan(Cdfs(prediction, y, pool)(3, 0)));
  EXPECT_TRUE(std::isnan(Cdfs(prediction, y, pool)(3, 1)));
  // The density of the targets that are there.
  EXPECT_FALSE(std::isnan(LogDensities(prediction, y, pool)(3, 0)));
  EXPECT_TRUE(std::isnan(LogDensities(prediction, y, pool)(4, 0)));
}

TEST(PredictionArrays, DrawsFollowTheDistributionAndNotTheThreads) {
  const Prediction prediction = TwoOutputs();
  const Matrix draws = Draws(prediction, 400, 5, ThreadPool(1));
  EXPECT_EQ(draws, Draws(prediction, 400, 5, ThreadPool(4)));
  EXPECT_NE(draws, Draws(prediction, 400, 6, ThreadPool(1)));
  const Eigen::ArrayXd second = draws.row(9).tail(400).transpose().array();
  EXPECT_NEAR(second.mean(), -9, 0.4);
  EXPECT_NEAR(std::sqrt((second - second.mean()).square().mean()), 2, 0.3);
}

TEST(PredictionArrays, RefuseProbabilitiesThatHaveNoQuantile) {
  for (const double p : {0.0, 1.0, -1.0, std::nan("")})
    EXPECT_THROW(Quantiles(TwoOutputs(), {0.5, p}, ThreadPool(1)), Error) << p;
}

}  // namespace
}  // namespace fathom
