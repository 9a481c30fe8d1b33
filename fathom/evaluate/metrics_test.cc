#include "fathom/evaluate/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "fathom/base/error.h"
#include "fathom/base/random.h"

namespace fathom {
namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN();

Prediction Gaussian(Index rows, Index outputs, double mean, double sd) {
  return Prediction::Gaussian(
      Moments(Matrix::Constant(rows, outputs, mean), Matrix::Constant(rows, outputs, sd * sd)));
}

TEST(Evaluate, AgreesWithClosedFormsForOneGaussian) {
  Matrix y(2, 1);
  y << 1, 5;  // errors 0 and 4, z = 0 and 2
  const Scores scores = Evaluate(Gaussian(2, 1, 1, 2), y);
  EXPECT_EQ(scores.rows, 2);
  EXPECT_DOUBLE_EQ(scores.rmse, std::sqrt(8));
  EXPECT_DOUBLE_EQ(scores.mae, 2);
  EXPECT_NEAR(scores.mean_log_likelihood, -0.5 * std::log(2 * std::numbers::pi * 4) - 1, 1e-14);
  const double pdf2 = std::exp(-2) / std::sqrt(2 * std::numbers::pi);
  const double crps0 = 2 * (2 / std::sqrt(2 * std::numbers::pi) - 1 / std::sqrt(std::numbers::pi));
  const double crps2 =
      2 * (2 * (2 * NormalCdf(2) - 1) + 2 * pdf2 - 1 / std::sqrt(std::numbers::pi));
  EXPECT_NEAR(scores.crps, (crps0 + crps2) / 2, 1e-14);
  EXPECT_DOUBLE_EQ(scores.sharpness, 2);
  // z = 2 lies in the central 95.45 % interval but in no smaller one.
  EXPECT_EQ(scores.coverage_50, 0.5);
  EXPECT_EQ(scores.coverage_90, 0.5);
  EXPECT_EQ(scores.coverage_95, 0.5);
  // Half is covered at each p. The mean of |p - 1/2| over 0.05, ..., 0.95 is
  // 2 (0.05 + ... + 0.45) / 19.
  EXPECT_NEAR(scores.calibration_error, 4.5 / 19, 1e-12);
  const double half_width = 2 * NormalQuantile(0.975);
  EXPECT_NEAR(scores.interval_score_95, 2 * half_width + 0.5 * 40 * (4 - half_width), 1e-12);
}

TEST(Evaluate, SumsTheLogLikelihoodOverOutputs) {
  const Matrix y = Matrix::Zero(3, 2);
  EXPECT_NEAR(Evaluate(Gaussian(3, 2, 0, 1), y).mean_log_likelihood,
              -std::log(2 * std::numbers::pi), 1e-14);
}

TEST(Evaluate, TellsCalibratedFromOverAndUnderConfident) {
  RandomStream stream(4);
  const Matrix y = stream.NormalMatrix(20000, 1);
  const Scores good = Evaluate(Gaussian(20000, 1, 0, 1), y);
  EXPECT_NEAR(good.coverage_50, 0.5, 0.012);
  EXPECT_NEAR(good.coverage_90, 0.9, 0.008);
  EXPECT_NEAR(good.coverage_95, 0.95, 0.006);
  EXPECT_LT(good.calibration_error, 0.008);
  const Scores over = Evaluate(Gaussian(20000, 1, 0, 0.5), y);
  EXPECT_NEAR(over.coverage_95, 2 * NormalCdf(0.5 * NormalQuantile(0.975)) - 1, 0.015);
  EXPECT_GT(over.calibration_error, 0.1);
  const Scores under = Evaluate(Gaussian(20000, 1, 0, 2), y);
  EXPECT_GT(under.coverage_50, 0.8);
  EXPECT_GT(under.calibration_error, 0.1);
  // Proper scores prefer the true distribution to both.
  for (const Scores& other : {over, under}) {
    EXPECT_GT(good.mean_log_likelihood, other.mean_log_likelihood);
    EXPECT_LT(good.crps, other.crps);
    EXPECT_LT(good.interval_score_95, other.interval_score_95);
  }
}

TEST(Evaluate, CoversATrueMixtureAtItsNominalRate) {
  RandomStream stream(5);
  const Index rows = 5000;
  Prediction p = Gaussian(rows, 1, -2, 0.5);
  p.components.push_back(Gaussian(rows, 1, 3, 1).components[0]);
  p.weights = Eigen::Vector2d(0.3, 0.7);
  Matrix y(rows, 1);
  for (Index n = 0; n < rows; ++n) {
    const bool first = stream.Uniform() < 0.3;
    y(n, 0) = first ? -2 + 0.5 * stream.Normal() : 3 + stream.Normal();
  }
  const Scores scores = Evaluate(p, y);
  EXPECT_NEAR(scores.coverage_90, 0.9, 0.015);
  EXPECT_LT(scores.calibration_error, 0.015);
  EXPECT_NEAR(scores.sharpness, std::sqrt(0.3 * 0.25 + 0.7 * 1 + 0.21 * 25), 1e-12);
}

TEST(Evaluate, DoesNotDependOnTheOrderOfRows) {
  RandomStream stream(6);
  const Matrix y = stream.NormalMatrix(40, 2), mean = stream.NormalMatrix(40, 2);
  const Matrix var = stream.NormalMatrix(40, 2).array().square();
  const std::vector<Index> order = stream.Permutation(40);
  const Scores a = Evaluate(Prediction::Gaussian(Moments(mean, var)), y);
  const Matrix y2 = y(order, Eigen::all), mean2 = mean(order, Eigen::all);
  const Matrix var2 = var(order, Eigen::all);
  const Scores b = Evaluate(Prediction::Gaussian(Moments(mean2, var2)), y2);
  EXPECT_NEAR(a.rmse, b.rmse, 1e-13);
  EXPECT_NEAR(a.mean_log_likelihood / b.mean_log_likelihood, 1, 1e-13);
  EXPECT_NEAR(a.crps, b.crps, 1e-13);
  EXPECT_NEAR(a.interval_score_95, b.interval_score_95, 1e-11);
  EXPECT_EQ(a.coverage_50, b.coverage_50);
  EXPECT_EQ(a.calibration_error, b.calibration_error);
}

// A mixture of many components, as samples of paths make it, two outputs, gaps in the targets.
struct ManyRows {
  Prediction prediction;
  Matrix y;
};

ManyRows RandomRows(Index rows, Index components) {
  RandomStream stream(8);
  ManyRows many;
  many.prediction.weights = Vector::Constant(components, 1 / static_cast<double>(components));
  for (Index s = 0; s < components; ++s) {
    many.prediction.components.emplace_back(
        stream.NormalMatrix(rows, 2), Matrix(0.1 + stream.NormalMatrix(rows, 2).array().square()));
  }
  many.y = stream.NormalMatrix(rows, 2);
  many.y(3, 1) = many.y(5, 0) = many.y(5, 1) = kNaN;
  return many;
}

TEST(Evaluate, PiecesAndThreadsChangeNoBit) {
  const ManyRows many = RandomRows(23, 200);
  const Scores whole = Evaluate(many.prediction, many.y);
  EXPECT_EQ(whole.rows, 22);
  for (const int threads : {1, 3}) {
    const ThreadPool pool(threads);
    for (const Index piece : {1, 5, 22}) {
      ScoreSums sums;
      for (Index begin = 0; begin < many.y.rows(); begin += piece) {
        const Index count = std::min(piece, many.y.rows() - begin);
        Prediction part{.components = {}, .weights = many.prediction.weights};
        for (const Moments& c : many.prediction.components)
          part.components.emplace_back(Matrix(c.mean.middleRows(begin, count)),
                                       Matrix(c.var.middleRows(begin, count)));
        sums.Add(part, many.y.middleRows(begin, count), pool);
      }
      const Scores scores = sums.Means();
      EXPECT_EQ(scores.rows, whole.rows);
      for (const auto score :
           {&Scores::rmse, &Scores::mae, &Scores::mean_log_likelihood, &Scores::crps,
            &Scores::coverage_50, &Scores::coverage_90, &Scores::coverage_95,
            &Scores::calibration_error, &Scores::sharpness, &Scores::interval_score_95})
        EXPECT_EQ(scores.*score, whole.*score) << threads << " threads, pieces of " << piece;
    }
  }
}

TEST(Evaluate, CountsACertainAndRightPredictionAsCovered) {
  const Scores right = Evaluate(Gaussian(3, 1, 7, 0), Matrix::Constant(3, 1, 7));
  EXPECT_EQ(right.coverage_50, 1);
  EXPECT_EQ(right.crps, 0);
  EXPECT_EQ(right.interval_score_95, 0);
  const Scores wrong = Evaluate(Gaussian(3, 1, 7, 0), Matrix::Constant(3, 1, 8));
  EXPECT_EQ(wrong.coverage_95, 0);
  EXPECT_EQ(wrong.crps, 1);
  EXPECT_EQ(wrong.interval_score_95, 40);
}

TEST(ScoreSums, CoverageAndTenthsAreCountedFromTheCdf) {
  Matrix y(4, 1);
  // u = 0.05, 0.45, 0.55 and 0.999: |2u - 1| = 0.9, 0.1, 0.1 and 0.998.
  y << NormalQuantile(0.05), NormalQuantile(0.45), NormalQuantile(0.55), NormalQuantile(0.999);
  ScoreSums sums;
  sums.Add(Gaussian(4, 1, 0, 1), y, ThreadPool(1));
  const Vector coverage = sums.Coverage();
  ASSERT_EQ(coverage.size(), 19);
  EXPECT_EQ(coverage[0], 0);      // 0.05
  EXPECT_EQ(coverage[2], 0.5);    // 0.15
  EXPECT_EQ(coverage[16], 0.5);   // 0.85
  EXPECT_EQ(coverage[18], 0.75);  // 0.95
  EXPECT_EQ(coverage[18], sums.Means().coverage_95);
  EXPECT_EQ(sums.Tenths(), Vector({{0.25, 0, 0, 0, 0.25, 0.25, 0, 0, 0, 0.25}}));
  EXPECT_THROW(ScoreSums().Coverage(), Error);
  EXPECT_THROW(ScoreSums().Tenths(), Error);
}

TEST(Evaluate, LeavesOutRowsWithoutTarget) {
  Matrix y(3, 2);
  y << 1, 2, kNaN, kNaN, 3, 4;
  const Scores scores = Evaluate(Gaussian(3, 2, 0, 1), y);
  EXPECT_EQ(scores.rows, 2);
  EXPECT_DOUBLE_EQ(scores.mae, 2.5);
}

TEST(Evaluate, RefusesWrongShapesAndNothingToScore) {
  EXPECT_THROW(Evaluate(Gaussian(3, 1, 0, 1), Matrix::Zero(2, 1)), Error);
  EXPECT_THROW(Evaluate(Gaussian(3, 1, 0, 1), Matrix::Zero(3, 2)), Error);
  EXPECT_THROW(Evaluate(Gaussian(3, 1, 0, 1), Matrix::Constant(3, 1, kNaN)), Error);
}

TEST(ProbabilityIntegralTransform, IsTheCdfAndHalfAJump) {
  Prediction p = Gaussian(1, 1, 0, 1);
  Matrix y = Matrix::Constant(1, 1, 0.7);
  EXPECT_DOUBLE_EQ(ProbabilityIntegralTransform(p, y)(0, 0), NormalCdf(0.7));
  p.components.push_back(Gaussian(1, 1, 0.7, 0).components[0]);
  p.weights = Eigen::Vector2d(0.6, 0.4);
  EXPECT_NEAR(ProbabilityIntegralTransform(p, y)(0, 0), 0.6 * NormalCdf(0.7) + 0.2, 1e-15);
}

}  // namespace
}  // namespace fathom
