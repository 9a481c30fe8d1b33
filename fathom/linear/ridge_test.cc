#include "fathom/linear/ridge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "fathom/base/linalg.h"
#include "fathom/base/random.h"
#include "tests/support/dense.h"

namespace fathom {
namespace {

TEST(Ridge, LeftOutRowsAreThoseOfALineFittedWithoutThem) {
  RandomStream stream(1);
  const Moments x = Moments::Certain(stream.NormalMatrix(20, 3));
  const Matrix y = x.mean * Vector(Eigen::Vector3d(1, -2, 0.5)) + 0.3 * stream.NormalMatrix(20, 1);
  const RidgeFit fit = FitRidge(x, y);
  for (const Index left : {0, 7, 19}) {
    std::vector<Index> others;
    for (Index n = 0; n < 20; ++n) {
      if (n != left) others.push_back(n);
    }
    // Least squares with the same penalty on centred columns.
    const Matrix X = x.mean(others, Eigen::all);
    const Eigen::RowVectorXd centre = X.colwise().mean();
    const double mean = y(others, Eigen::all).mean();
    const Matrix C = X.rowwise() - centre;
    const Matrix A = TransposedTimes(C, C) + fit.ridge.penalty[0] * Matrix::Identity(3, 3);
    const Vector centred_y = y(others, Eigen::all).array() - mean;
    const Vector w = Apply(Inverse(A), Apply(C.transpose(), centred_y));
    const double predicted = mean + (x.mean.row(left) - centre).dot(w);
    // The centre moves a little, too, where the penalty is not 0.
    EXPECT_NEAR(fit.left_out.mean(left, 0), predicted, 1e-3);
  }
}

// The mean of squared errors over variances, of new rows and of those that are left out, and the
// noise, over many small tables whose noise is 1.
struct InTheMean {
  double new_rows = 0, left_out = 0, noise = 0;
};
InTheMean OfSmallTables(Index rows, Index columns) {
  constexpr Index kTables = 400, kNew = 50;
  InTheMean mean;
  RandomStream stream(15);
  for (Index table = 0; table < kTables; ++table) {
    const Moments all = Moments::Certain(stream.NormalMatrix(rows + kNew, columns));
    const Matrix y = all.mean.leftCols(3).rowwise().sum() + stream.NormalMatrix(rows + kNew, 1);
    const Moments x = Moments::Certain(all.mean.topRows(rows));
    const RidgeFit fit = FitRidge(x, y.topRows(rows));
    const Moments line = PredictRidge(fit.ridge, Moments::Certain(all.mean.bottomRows(kNew)));
    const auto ratio = [](const Matrix& known, const Moments& predicted) {
      return (known - predicted.mean).cwiseAbs2().cwiseQuotient(predicted.var).mean() / kTables;
    };
    mean.new_rows += ratio(y.bottomRows(kNew), line);
    mean.left_out += ratio(y.topRows(rows), fit.left_out);
    mean.noise += fit.ridge.noise[0] / kTables;
  }
  return mean;
}

TEST(Ridge, SmallTablesHaveHonestErrorBars) {
  const InTheMean few_columns = OfSmallTables(25, 10);
  EXPECT_NEAR(few_columns.noise, 1, 0.1);  // the mean square of left-out errors is 1.6
  EXPECT_NEAR(few_columns.left_out, 1, 0.01);
  EXPECT_NEAR(few_columns.new_rows, 1, 0.2);
  // The rows tell half of the directions apart.
  const InTheMean many_columns = OfSmallTables(20, 40);
  EXPECT_NEAR(many_columns.left_out, 1, 0.01);
  EXPECT_NEAR(many_columns.new_rows, 1, 0.2);
}

// A tenth of the cells is missing: those rows are off by the slope, the others by the noise.
TEST(Ridge, UncertainCellsAreNotTakenForNoise) {
  RandomStream stream(7);
  Moments x = Moments::Certain(stream.NormalMatrix(200, 1));
  const Matrix y = 3 * x.mean + 0.1 * stream.NormalMatrix(200, 1);
  for (Index n = 0; n < 200; n += 10) {
    x.mean(n, 0) = 0;
    x.var(n, 0) = 1;
  }
  const RidgeFit fit = FitRidge(x, y);
  EXPECT_NEAR(fit.ridge.weights(0, 0), 3, 0.05);
  EXPECT_NEAR(fit.ridge.noise[0], 0.01, 0.004);
  EXPECT_NEAR(fit.left_out.var(0, 0), 9, 1);
  EXPECT_NEAR(fit.left_out.var(1, 0), fit.ridge.noise[0], 0.001);
}

TEST(Ridge, LearnsNothingWhereThereIsNothing) {
  RandomStream stream(2);
  const Moments x = Moments::Certain(stream.NormalMatrix(40, 30));
  const Matrix y = stream.NormalMatrix(40, 1);
  const RidgeFit fit = FitRidge(x, y);
  EXPECT_LT((y - fit.left_out.mean).squaredNorm(), 1.1 * (y.array() - y.mean()).square().sum());
}

TEST(Ridge, MoreColumnsThanRowsAndWeights) {
  RandomStream stream(3);
  const Moments x = Moments::Certain(stream.NormalMatrix(10, 25));
  const Matrix y = x.mean.col(0);
  const RidgeFit fit = FitRidge(x, y, Vector::LinSpaced(10, 1, 3));
  EXPECT_TRUE(fit.left_out.mean.allFinite());
  const Moments predicted = PredictRidge(fit.ridge, x);
  EXPECT_TRUE((predicted.var.array() > 0).all());
}

TEST(Ridge, ErrorBarsGrowAwayFromTheRows) {
  RandomStream stream(4);
  const Moments x = Moments::Certain(stream.NormalMatrix(30, 1));
  const Matrix y = 2 * x.mean + 0.1 * stream.NormalMatrix(30, 1);
  const Ridge ridge = FitRidge(x, y).ridge;
  Matrix far(2, 1);
  far << 0, 100;
  const Moments predicted = PredictRidge(ridge, Moments::Certain(far));
  EXPECT_GT(predicted.var(1, 0), 50 * predicted.var(0, 0));
  EXPECT_NEAR(predicted.mean(1, 0), 200, 10);
}

TEST(Ridge, ARowDoesNotDependOnTheRowsBesideIt) {
  RandomStream stream(21);
  const Moments x = Moments::Certain(stream.NormalMatrix(40, 7));
  const Ridge ridge = FitRidge(x, stream.NormalMatrix(40, 2)).ridge;
  const Moments all = PredictRidge(ridge, x);
  for (Index n = 0; n < x.rows(); ++n) {
    const Moments alone = PredictRidge(ridge, Moments::Certain(x.mean.middleRows(n, 1)));
    EXPECT_EQ(alone.mean.row(0), all.mean.row(n));
    EXPECT_EQ(alone.var.row(0), all.var.row(n));
  }
}

TEST(Ridge, MeansWithoutEachRowAreThoseOfALineWithoutIt) {
  RandomStream stream(11);
  constexpr Index kRows = 12, kAway = 4;
  const Moments x = Moments::Certain(stream.NormalMatrix(kRows, 3));
  const Matrix y = x.mean.leftCols(2) + stream.NormalMatrix(kRows, 2);
  Vector weights = Vector::LinSpaced(kRows, 1, 2);
  const RidgeFit fit = FitRidge(x, y, weights);
  const Vector found = MeansWithoutEach(fit, x, y, 1).col(kAway);
  EXPECT_NEAR(found[kAway], fit.left_out.mean(kAway, 1), 1e-12);
  // The normal equations of the others, with the same penalty.
  weights[kAway] = 0;
  const double rows = weights.sum();
  const Matrix X = x.mean.rowwise() - Eigen::RowVectorXd(weights.transpose() * x.mean / rows);
  const Vector Y = y.col(1).array() - weights.dot(y.col(1)) / rows;
  Matrix A = X.transpose() * weights.asDiagonal() * X;
  A.diagonal().array() += fit.ridge.penalty[1];
  const Vector w = SolvePositiveDefinite(A, X.transpose() * weights.cwiseProduct(Y));
  const Vector means = (X * w).array() + weights.dot(y.col(1)) / rows;
  EXPECT_LT((found - means).cwiseAbs().maxCoeff(), 1e-10);
}

// Otherwise a row's copy would tell the line what it must not know.
TEST(Ridge, CopiesAreLeftOutTogether) {
  RandomStream stream(13);
  constexpr Index kRows = 30;
  const Moments x = Moments::Certain(stream.NormalMatrix(kRows, 20));
  const Matrix y = 0.5 * x.mean.leftCols(1) + stream.NormalMatrix(kRows, 1);
  const RidgeFit once = FitRidge(x, y);
  const Moments doubled = Moments::Certain(x.mean.replicate(2, 1));
  std::vector<std::int32_t> copies(2 * kRows);
  for (Index n = 0; n < 2 * kRows; ++n) copies[n] = static_cast<std::int32_t>(n % kRows);
  const Matrix y_doubled = y.replicate(2, 1);
  const RidgeFit twice = FitRidge(doubled, y_doubled, {}, copies);
  // The steps of the penalty are coarser than the factor of two.
  EXPECT_NEAR(std::log10(twice.ridge.penalty[0] / once.ridge.penalty[0]), std::log10(2.0), 0.31);
  EXPECT_NEAR(twice.ridge.noise[0] / once.ridge.noise[0], 1, 0.1);
  // Two rows are as good as one that counts twice.
  const RidgeFit weighted = FitRidge(x, y, Vector::Constant(kRows, 2));
  EXPECT_EQ(twice.ridge.penalty, weighted.ridge.penalty);
  EXPECT_LT((twice.left_out.mean.topRows(kRows) - weighted.left_out.mean).norm(), 1e-10);
  EXPECT_LT((twice.left_out.var.topRows(kRows) - weighted.left_out.var).norm(), 1e-10);
  const Matrix without = MeansWithoutEach(twice, doubled, y_doubled, 0);
  EXPECT_LT((without.diagonal() - twice.left_out.mean.col(0)).norm(), 1e-10);
}

// Leaving the rows at one place out is to take them from the matrix that is inverted.
TEST(Ridge, LeftOutRowsAreAsUncertainAsALineWithoutThemSays) {
  RandomStream stream(14);
  const Matrix different = stream.NormalMatrix(12, 2);
  const Moments x = Moments::Certain(different.replicate(2, 1));
  const Matrix y = x.mean.leftCols(1) + 0.5 * stream.NormalMatrix(12, 1).replicate(2, 1);
  std::vector<std::int32_t> copies(24);
  for (Index n = 0; n < 24; ++n) copies[n] = static_cast<std::int32_t>(n % 12);
  const RidgeFit fit = FitRidge(x, y, {}, copies);
  // Its columns, and a last one of ones that no penalty holds.
  Matrix X(24, 3);
  X << x.mean.rowwise() - fit.ridge.centre.transpose(), Matrix::Ones(24, 1);
  for (const Index left : {0, 5, 11}) {
    Matrix precision = TransposedTimes(X, X);
    precision.diagonal().head(2).array() += fit.ridge.penalty[0];
    const Matrix own = X(std::vector<Index>{left, left + 12}, Eigen::all);
    precision -= TransposedTimes(own, own);
    const Vector place = X.row(left);
    const double expected = 1 + place.dot(Apply(Inverse(precision), place));
    EXPECT_NEAR(fit.left_out.var(left, 0) / fit.ridge.noise[0], expected, 1e-9);
    EXPECT_NEAR(fit.left_out.var(left + 12, 0) / fit.ridge.noise[0], expected, 1e-9);
  }
}

TEST(Ridge, CovarianceHasTheVariancesOfTheLine) {
  RandomStream stream(9);
  const Moments x = Moments::Certain(stream.NormalMatrix(25, 3));
  const Matrix y = x.mean.leftCols(2) + 0.3 * stream.NormalMatrix(25, 2);
  const Ridge ridge = FitRidge(x, y).ridge;
  Moments rows = Moments::Certain(stream.NormalMatrix(4, 3));
  rows.var(2, 1) = 0.4;
  rows.mean.row(3) = rows.mean.row(0);
  const Moments line = PredictRidge(ridge, rows, true);
  for (Index t = 0; t < 2; ++t) {
    const Matrix cov = RidgeCovariance(ridge, rows, t);
    EXPECT_LT((cov.diagonal() - line.var.col(t)).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_NEAR(cov(0, 3), cov(0, 0), 1e-12);  // copies are one place of the line
  }
}

}  // namespace
}  // namespace fathom
