#include "fathom/trees/boosted_trees.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fathom/base/random.h"

namespace fathom {
namespace {

// All rows and columns, and no damping: what can be checked by hand.
TreeFit Whole(Index rounds, int depth) {
  return {.rounds = rounds,
          .depth = depth,
          .rate = 1,
          .penalty = 0,
          .least = 1,
          .share_of_rows = 1,
          .share_of_columns = 1};
}

double Predict(const BoostedTrees& trees, const Matrix& x, Index row) {
  const Vector certain = Vector::Zero(x.cols());
  return PredictTrees(trees, x.row(row).data(), certain.data());
}

double SquaredError(const BoostedTrees& trees, const Matrix& x, const Vector& y) {
  double sum = 0;
  for (Index n = 0; n < y.size(); ++n) sum += std::pow(y[n] - Predict(trees, x, n), 2);
  return sum;
}

const Matrix kSteps = (Matrix(4, 1) << 1, 2, 3, 4).finished();
const Vector kHeights = (Vector(4) << 0, 0, 10, 10).finished();

TEST(BoostedTrees, OneTreeByHand) {
  const BoostedTrees trees = FitBoostedTrees(kSteps, kHeights, {}, Whole(1, 1));
  EXPECT_EQ(trees.base, 5);
  ASSERT_EQ(trees.nodes.size(), 3U);
  EXPECT_EQ(trees.nodes[0].column, 0);
  EXPECT_EQ(trees.nodes[0].value, 2.5);
  EXPECT_EQ(trees.nodes[1].value, -5);
  EXPECT_EQ(trees.nodes[2].value, 5);
  TreeFit damped = Whole(1, 1);
  damped.penalty = 2;
  damped.rate = 0.5;
  EXPECT_EQ(FitBoostedTrees(kSteps, kHeights, {}, damped).nodes[1].value, 0.5 * -10 / (2 + 2));
}

// Bags that see all rows and columns are alike, and so is their mean.
TEST(BoostedTrees, TheMeanOfEqualBagsIsEachOfThem) {
  RandomStream stream(5);
  const Matrix x = stream.NormalMatrix(60, 3);
  const Vector y = x.col(0).cwiseProduct(x.col(1)) + x.col(2);
  TreeFit fit = Whole(4, 3);
  fit.rate = 0.3;
  const BoostedTrees one = FitBoostedTrees(x, y, {}, fit);
  fit.bags = 3;
  BoostedTrees mean = FitBoostedTrees(x, y, {}, fit);
  ASSERT_EQ(mean.roots.size(), 12U);
  for (Index n = 0; n < 60; ++n) EXPECT_NEAR(Predict(mean, x, n), Predict(one, x, n), 1e-12);
  // The first two rounds alone.
  KeepTrees(6, &mean);
  fit.rounds = 2;
  fit.bags = 1;
  const BoostedTrees two = FitBoostedTrees(x, y, {}, fit);
  for (Index n = 0; n < 60; ++n) EXPECT_NEAR(Predict(mean, x, n), Predict(two, x, n), 1e-12);
}

// Bags that see other rows differ, and their mean is better than one of them on new rows.
TEST(BoostedTrees, TheMeanOfBagsIsBetterThanOne) {
  RandomStream stream(6);
  const Matrix x = stream.NormalMatrix(400, 4), new_x = stream.NormalMatrix(400, 4);
  const auto target = [](const Matrix& rows) -> Vector {
    return rows.col(0).array().sin() + rows.col(1).array() * rows.col(2).array();
  };
  const Vector y = target(x) + 0.5 * stream.NormalMatrix(400, 1).col(0);
  TreeFit fit;
  const double one = SquaredError(FitBoostedTrees(x, y, {}, fit), new_x, target(new_x));
  fit.bags = 4;
  EXPECT_LT(SquaredError(FitBoostedTrees(x, y, {}, fit), new_x, target(new_x)), one);
}

TEST(BoostedTrees, NoOtherDivisionIsBetter) {
  RandomStream stream(1);
  const Matrix x = stream.NormalMatrix(30, 2);
  const Vector y = stream.NormalMatrix(30, 1).col(0) + x.col(1).cwiseAbs2();
  const double found = SquaredError(FitBoostedTrees(x, y, {}, Whole(1, 1)), x, y);
  for (Index c = 0; c < 2; ++c) {
    for (Index cut = 0; cut < 30; ++cut) {
      const auto left = (x.col(c).array() <= x(cut, c)).cast<double>().eval();
      const double rows = left.sum();
      if (rows == 30) continue;
      const double low = (left * y.array()).sum() / rows;
      const double high = ((1 - left) * y.array()).sum() / (30 - rows);
      const double error = (y.array() - left * low - (1 - left) * high).square().sum();
      EXPECT_GE(error, found - 1e-9);
    }
  }
}

TEST(BoostedTrees, FewColumnsAreAllAskedByEveryTree) {
  // Two columns of four jump together; a tree that misses one of them learns noise.
  RandomStream stream(3);
  const Matrix x = stream.NormalMatrix(1200, 4);
  const Vector jumps = x.col(0).cwiseSign().cwiseProduct(x.col(1).cwiseSign());
  const Vector y = jumps + 0.1 * stream.NormalMatrix(1200, 1).col(0);
  const auto new_rows = Eigen::seq(600, 1199);
  const auto error = [&](const TreeFit& fit) {
    const BoostedTrees trees = FitBoostedTrees(x.topRows(600), y.head(600), {}, fit);
    return SquaredError(trees, x(new_rows, Eigen::all), jumps(new_rows));
  };
  EXPECT_LT(error({.rounds = 100}), 0.5 * error({.rounds = 100, .least_columns = 1}));
}

TEST(BoostedTrees, EveryTreeLowersTheErrorOfItsRows) {
  RandomStream stream(2);
  const Matrix x = stream.NormalMatrix(200, 3);
  const Vector y = (2 * x.col(0)).array().sin() * x.col(1).array();
  TreeFit fit = Whole(40, 3);
  fit.rate = 0.1;
  fit.penalty = 1;
  BoostedTrees trees = FitBoostedTrees(x, y, {}, fit);
  const Matrix stages = PredictInStages(trees, x, 10);
  double before = (y.array() - y.mean()).matrix().squaredNorm();
  for (Index s = 0; s < stages.cols(); ++s) {
    const double now = (y - stages.col(s)).squaredNorm();
    EXPECT_LT(now, 0.9 * before);
    before = now;
  }
  KeepTrees(20, &trees);
  for (Index n = 0; n < x.rows(); ++n) EXPECT_EQ(Predict(trees, x, n), stages(n, 1));
}

// A cell that may lie anywhere goes both ways; one that is nearly known goes its own.
TEST(BoostedTrees, UncertainCellsGoBothWays) {
  const BoostedTrees trees = FitBoostedTrees(kSteps, kHeights, {}, Whole(1, 1));
  const auto at = [&](double mean, double var) { return PredictTrees(trees, &mean, &var); };
  EXPECT_EQ(at(2.4, 0), 0);
  EXPECT_NEAR(at(2.4, 1e-6), 0, 1e-12);
  EXPECT_NEAR(at(2.5, 3), 5, 1e-12);
  EXPECT_NEAR(at(1.5, 1), 10 * 0.5 * std::erfc(1 / std::sqrt(2.0)), 1e-12);
  EXPECT_NEAR(at(0, 1e12), 5, 1e-4);
}

// Few rows are sorted, many are counted by their bins.
TEST(BoostedTrees, ARowThatCountsTwiceIsThereTwice) {
  for (const Index rows : {20, 400}) {
    RandomStream stream(3);
    const Matrix x = stream.NormalMatrix(rows, 2);
    const Vector y = stream.NormalMatrix(rows, 1).col(0);
    const Vector weights = Vector::Constant(rows, 2);
    Matrix twice(2 * rows, 2);
    twice << x, x;
    Vector y_twice(2 * rows);
    y_twice << y, y;
    const BoostedTrees weighted = FitBoostedTrees(x, y, weights, Whole(3, 6));
    const BoostedTrees copied = FitBoostedTrees(twice, y_twice, {}, Whole(3, 6));
    for (Index n = 0; n < rows; ++n)
      EXPECT_NEAR(Predict(weighted, x, n), Predict(copied, x, n), 1e-12);
  }
}

TEST(BoostedTrees, WhatSaysNothingIsNotAsked) {
  const Matrix constant = Matrix::Constant(10, 2, 3);
  const Vector y = Vector::LinSpaced(10, 0, 9);
  const BoostedTrees trees = FitBoostedTrees(constant, y, {}, Whole(2, 3));
  EXPECT_EQ(trees.nodes.size(), 2U);  // a leaf each
  EXPECT_NEAR(Predict(trees, constant, 0), 4.5, 1e-12);
  // A target that is not known teaches nothing, however the row looks.
  Vector holes = kHeights;
  holes[3] = std::numeric_limits<double>::quiet_NaN();
  const BoostedTrees known = FitBoostedTrees(kSteps, holes, {}, Whole(1, 1));
  EXPECT_NEAR(known.base, 10.0 / 3, 1e-12);
  EXPECT_NEAR(Predict(known, kSteps, 3), 10, 1e-12);
  // Columns behind the first ones are not asked.
  Matrix behind(4, 2);
  behind << Matrix::Zero(4, 1), kSteps;
  TreeFit first = Whole(1, 1);
  first.columns = 1;
  EXPECT_EQ(FitBoostedTrees(behind, kHeights, {}, first).nodes.size(), 1U);
}

TEST(BoostedTrees, OfMoreValuesThanBinsDivideByShares) {
  RandomStream stream(4);
  const Matrix x = stream.NormalMatrix(3000, 1);
  const Vector y = (x.col(0).array() > 0.3).cast<double>();
  const BoostedTrees trees = FitBoostedTrees(x, y, {}, Whole(1, 1));
  EXPECT_NEAR(trees.nodes[0].value, 0.3, 0.02);
}

}  // namespace
}  // namespace fathom
