#include "fathom/distribution/joint_prediction.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/linalg.h"
#include "fathom/base/random.h"
#include "fathom/distribution/target_shape.h"

namespace fathom {
namespace {

const ThreadPool& Pool() {
  static const ThreadPool pool(1);
  return pool;
}

Matrix ThreeRows() {
  Matrix R(3, 3);
  R << 1, 0.8, 0.1, 0.8, 1, 0.3, 0.1, 0.3, 1;
  return R;
}

// Three rows whose common errors hang together by R.
JointPart GaussianPart(double share) {
  JointPart part;
  Moments rows(3, 1);
  rows.mean << 1, 1.2, 0.5;
  rows.var << 0.5, 0.3, 0.2;
  part.rows = Prediction::Gaussian(rows);
  part.share = {Matrix::Constant(3, 1, share)};
  part.correlations = {ThreeRows()};
  return part;
}

Matrix CovarianceOfDraws(const Matrix& draws) {
  const Matrix off = draws.colwise() - draws.rowwise().mean().eval();
  return off * off.transpose() / static_cast<double>(draws.cols());
}

TEST(JointPrediction, SharedErrorsAreCommonAndTheRestIsTheRowsOwn) {
  JointPrediction y;
  y.parts = {GaussianPart(0.6)};
  const Matrix cov = y.Covariances(Pool())[0];
  EXPECT_EQ(Vector(cov.diagonal()), Vector(y.parts[0].rows.Variance().col(0)));
  EXPECT_NEAR(cov(0, 1), 0.8 * 0.6 * std::sqrt(0.5 * 0.3), 1e-15);
  EXPECT_NEAR(cov(2, 0), 0.1 * 0.6 * std::sqrt(0.5 * 0.2), 1e-15);
  y.parts[0].share = {Matrix::Zero(3, 1)};
  EXPECT_EQ(Matrix(y.Covariances(Pool())[0]), Matrix(Vector(y.Variance().col(0)).asDiagonal()));
}

TEST(JointPrediction, PartsDifferForAllRowsAtOnce) {
  JointPrediction y;
  y.parts = {GaussianPart(0), GaussianPart(0)};
  y.parts[0].weight = 0.25;
  y.parts[1].weight = 0.75;
  y.parts[1].rows.components[0].mean.array() += 2;
  const Matrix cov = y.Covariances(Pool())[0];
  const double between = 0.25 * 0.75 * 4;
  EXPECT_NEAR(cov(0, 1), between, 1e-14);
  EXPECT_NEAR(cov(1, 1), between + 0.3, 1e-14);
}

TEST(JointPrediction, LogNormalRowsHaveTheKnownCovariance) {
  JointPrediction y;
  y.parts = {GaussianPart(0.7)};
  TargetShape shape;
  shape.warp = {.kind = Warp::Kind::kLog, .shift = 0, .low = 1e-9, .high = 1e9};
  y.parts[0].rows = Shaped(shape, y.parts[0].rows, {});
  const Matrix cov = y.Covariances(Pool())[0];
  const Matrix mean = y.Mean();
  const double common = 0.7 * 0.8 * std::sqrt(0.5 * 0.3);
  EXPECT_NEAR(cov(0, 1) / (mean(0, 0) * mean(1, 0) * std::expm1(common)), 1, 1e-6);
  EXPECT_GT(SymmetricEigensystem(cov).values[0], 0);
}

TEST(JointPrediction, DrawsHaveTheCovarianceThatIsTold) {
  JointPrediction y;
  y.parts = {GaussianPart(0.9), GaussianPart(0.2)};
  y.parts[0].weight = 0.4;
  y.parts[1].weight = 0.6;
  y.parts[1].rows.components[0].mean.array() -= 1;
  TargetShape steps;
  steps.step = 1;
  steps.least = -3;
  for (const bool shaped : {false, true}) {
    if (shaped) {
      for (JointPart& part : y.parts) part.rows = Shaped(steps, part.rows, {});
    }
    const Matrix draws = y.Draws(20000, 3, Pool());
    const Matrix cov = y.Covariances(Pool())[0];
    EXPECT_LT((CovarianceOfDraws(draws) - cov).cwiseAbs().maxCoeff(), 0.03) << shaped;
    EXPECT_LT((draws.rowwise().mean() - y.Mean()).cwiseAbs().maxCoeff(), 0.03) << shaped;
    EXPECT_EQ(y.Draws(50, 3, ThreadPool(3)), y.Draws(50, 3, Pool()));
  }
}

TEST(JointPrediction, CopiesOfARowAreDrawnAlike) {
  JointPrediction y;
  y.parts = {GaussianPart(1)};
  y.parts[0].correlations = {Matrix::Ones(3, 3)};
  const Matrix draws = y.Draws(4, 1, Pool());
  const Vector var = y.Variance().col(0);
  for (Index s = 0; s < 4; ++s) {
    const double xi = (draws(0, s) - 1) / std::sqrt(var[0]);
    EXPECT_NEAR((draws(1, s) - 1.2) / std::sqrt(var[1]), xi, 1e-3);
  }
}

}  // namespace
}  // namespace fathom
