#include "fathom/trees/boosted_trees.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

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

BoostedTrees Fit(const Matrix& x, const Vector& y, const Vector& weights, const TreeFit& fit) {
  return FitBoostedTrees(Moments::Certain(x), y, weights, fit);
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
  const BoostedTrees trees = Fit(kSteps, kHeights, {}, Whole(1, 1));
  EXPECT_EQ(trees.base, 5);
  ASSERT_EQ(trees.nodes.size(), 3U);
  EXPECT_EQ(trees.nodes[0].column, 0);
  EXPECT_EQ(trees.nodes[0].value, 2.5);
  EXPECT_EQ(trees.nodes[1].value, -5);
  EXPECT_EQ(trees.nodes[2].value, 5);
  TreeFit damped = Whole(1, 1);
  damped.penalty = 2;
  damped.rate = 0.5;
  EXPECT_EQ(Fit(kSteps, kHeights, {}, damped).nodes[1].value, 0.5 * -10 / (2 + 2));
}

// Bags that see all rows and columns are alike, and so is their mean.
TEST(BoostedTrees, TheMeanOfEqualBagsIsEachOfThem) {
  RandomStream stream(5);
  const Matrix x = stream.NormalMatrix(60, 3);
  const Vector y = x.col(0).cwiseProduct(x.col(1)) + x.col(2);
  TreeFit fit = Whole(4, 3);
  fit.rate = 0.3;
  const BoostedTrees one = Fit(x, y, {}, fit);
  fit.bags = 3;
  BoostedTrees mean = Fit(x, y, {}, fit);
  ASSERT_EQ(mean.roots.size(), 12U);
  for (Index n = 0; n < 60; ++n) EXPECT_NEAR(Predict(mean, x, n), Predict(one, x, n), 1e-12);
  // The first two rounds alone.
  KeepTrees(6, &mean);
  fit.rounds = 2;
  fit.bags = 1;
  const BoostedTrees two = Fit(x, y, {}, fit);
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
  const double one = SquaredError(Fit(x, y, {}, fit), new_x, target(new_x));
  fit.bags = 4;
  EXPECT_LT(SquaredError(Fit(x, y, {}, fit), new_x, target(new_x)), one);
}

TEST(BoostedTrees, NoOtherDivisionIsBetter) {
  RandomStream stream(1);
  const Matrix x = stream.NormalMatrix(30, 2);
  const Vector y = stream.NormalMatrix(30, 1).col(0) + x.col(1).cwiseAbs2();
  const double found = SquaredError(Fit(x, y, {}, Whole(1, 1)), x, y);
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
    const BoostedTrees trees = Fit(x.topRows(600), y.head(600), {}, fit);
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
  BoostedTrees trees = Fit(x, y, {}, fit);
  const Matrix stages = PredictInStages(trees, Moments::Certain(x), 10);
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
  const BoostedTrees trees = Fit(kSteps, kHeights, {}, Whole(1, 1));
  const auto at = [&](double mean, double var) { return PredictTrees(trees, &mean, &var); };
  EXPECT_EQ(at(2.4, 0), 0);
  EXPECT_NEAR(at(2.4, 1e-6), 0, 1e-12);
  EXPECT_NEAR(at(2.5, 3), 5, 1e-12);
  EXPECT_NEAR(at(1.5, 1), 10 * 0.5 * std::erfc(1 / std::sqrt(2.0)), 1e-12);
  EXPECT_NEAR(at(0, 1e12), 5, 1e-4);
}

Moments WithMissing(const Matrix& x, const std::vector<bool>& missing, Index column) {
  Moments cells = Moments::Certain(x);
  for (Index n = 0; n < x.rows(); ++n) {
    if (!missing[static_cast<std::size_t>(n)]) continue;
    cells.mean(n, column) = 0;
    cells.var(n, column) = 1;
  }
  return cells;
}

double Predict(const BoostedTrees& trees, const Moments& x, Index row) {
  return PredictTrees(trees, x.mean.row(row).data(), x.var.row(row).data());
}

// Rows 4 and 5 have no cell. They are like the rows of the side that they are sent to, or unlike
// all others.
TEST(BoostedTrees, MissingCellsGoWhereTheyBelong) {
  Matrix x(6, 1);
  x << -2, -1, 1, 2, 0, 0;
  const Moments cells = WithMissing(x, {false, false, false, false, true, true}, 0);
  const auto heights_of = [&](double missing) {
    Vector y(6);
    y << 0, 0, 10, 10, missing, missing;
    const BoostedTrees trees = FitBoostedTrees(cells, y, {}, Whole(1, 2));
    for (Index n = 0; n < 6; ++n) EXPECT_NEAR(Predict(trees, cells, n), y[n], 1e-12);
    return trees.nodes.front();
  };
  EXPECT_EQ(heights_of(0).missing, MissingCells::kLeft);
  EXPECT_EQ(heights_of(10).missing, MissingCells::kRight);
  // Known or not is the first question where that tells most.
  const TreeNode alone = heights_of(100);
  EXPECT_EQ(alone.missing, MissingCells::kRight);
  EXPECT_GT(alone.value, 1e30);
  EXPECT_TRUE(std::isfinite(static_cast<float>(alone.value)));
}

// Where none of a node's rows lacks its cell, missing cells go with the larger part.
TEST(BoostedTrees, MissingCellsThatNobodyKnowsGoWithMost) {
  Matrix x(8, 2);
  x << 1, -2, 1, 1, 1, 2, 1, 3, -1, 0, -1, 0, -1, 0, -1, 0;
  const Moments cells = WithMissing(x, {false, false, false, false, true, true, true, true}, 1);
  Vector y = Vector::Zero(8);
  for (const double third : {50, 60}) {
    y.head(4) << 50, third, third, 60;
    const BoostedTrees trees = FitBoostedTrees(cells, y, {}, Whole(1, 2));
    const double mean[] = {1, 0}, var[] = {0, 1};
    EXPECT_NEAR(PredictTrees(trees, mean, var), third, 1e-12);
  }
}

// Counted by their bins or sorted, missing cells are divided alike; a tree of many rows uses both.
TEST(BoostedTrees, MissingCellsLowerTheErrorTheyCause) {
  constexpr Index kRows = 400;
  RandomStream stream(7);
  const Matrix x = stream.NormalMatrix(kRows, 2);
  std::vector<bool> missing;
  Vector y(kRows);
  for (Index n = 0; n < kRows; ++n) {
    missing.push_back(stream.Uniform() < 0.3);
    y[n] = missing.back() ? -3 : std::round(2 * x(n, 0));  // gone for a reason
  }
  const Moments cells = WithMissing(x, missing, 0);
  const BoostedTrees trees = FitBoostedTrees(cells, y, {}, Whole(1, 12));
  for (Index n = 0; n < kRows; ++n) EXPECT_NEAR(Predict(trees, cells, n), y[n], 1e-9);
}

// The rows that a tree has not seen lose what predictions will say of them, so that the next trees
// learn the rest: the sum of the trees is the target in the end.
TEST(BoostedTrees, MissingCellsOfRowsThatATreeHasNotSeenGoTheSameWay) {
  constexpr Index kRows = 300;
  RandomStream stream(8);
  const Matrix x = stream.NormalMatrix(kRows, 2);
  std::vector<bool> missing;
  for (Index n = 0; n < kRows; ++n) missing.push_back(stream.Uniform() < 0.5);
  const Moments cells = WithMissing(x, missing, 0);
  const Vector y = cells.mean.col(0).array().sign() + cells.var.col(0).array();
  TreeFit fit = Whole(400, 2);
  fit.rate = 0.3;
  fit.share_of_rows = 0.5;
  const BoostedTrees trees = FitBoostedTrees(cells, y, {}, fit);
  for (Index n = 0; n < kRows; ++n) EXPECT_NEAR(Predict(trees, cells, n), y[n], 1e-2);
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
    const BoostedTrees weighted = Fit(x, y, weights, Whole(3, 6));
    const BoostedTrees copied = Fit(twice, y_twice, {}, Whole(3, 6));
    for (Index n = 0; n < rows; ++n)
      EXPECT_NEAR(Predict(weighted, x, n), Predict(copied, x, n), 1e-12);
  }
}

TEST(BoostedTrees, WhatSaysNothingIsNotAsked) {
  const Matrix constant = Matrix::Constant(10, 2, 3);
  const Vector y = Vector::LinSpaced(10, 0, 9);
  const BoostedTrees trees = Fit(constant, y, {}, Whole(2, 3));
  EXPECT_EQ(trees.nodes.size(), 2U);  // a leaf each
  EXPECT_NEAR(Predict(trees, constant, 0), 4.5, 1e-12);
  // A target that is not known teaches nothing, however the row looks.
  Vector holes = kHeights;
  holes[3] = std::numeric_limits<double>::quiet_NaN();
  const BoostedTrees known = Fit(kSteps, holes, {}, Whole(1, 1));
  EXPECT_NEAR(known.base, 10.0 / 3, 1e-12);
  EXPECT_NEAR(Predict(known, kSteps, 3), 10, 1e-12);
  // Columns behind the first ones are not asked.
  Matrix behind(4, 2);
  behind << Matrix::Zero(4, 1), kSteps;
  TreeFit first = Whole(1, 1);
  first.columns = 1;
  EXPECT_EQ(Fit(behind, kHeights, {}, first).nodes.size(), 1U);
}

TEST(BoostedTrees, OfMoreValuesThanBinsDivideByShares) {
  RandomStream stream(4);
  const Matrix x = stream.NormalMatrix(3000, 1);
  const Vector y = (x.col(0).array() > 0.3).cast<double>();
  const BoostedTrees trees = Fit(x, y, {}, Whole(1, 1));
  EXPECT_NEAR(trees.nodes[0].value, 0.3, 0.02);
}

}  // namespace
}  // namespace fathom
