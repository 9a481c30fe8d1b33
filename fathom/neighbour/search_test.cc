#include "fathom/neighbour/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fathom/base/random.h"

namespace fathom {
namespace {

// The same by sorting all distances.
std::vector<std::int32_t> Nearest(const Moments& x, const Vector& lengthscales,
                                  const Eigen::RowVectorXd& query, Index m, Index self) {
  std::vector<std::pair<double, std::int32_t>> all;
  for (Index n = 0; n < x.rows(); ++n) {
    if (n == self) continue;
    const Eigen::ArrayXd d = (x.mean.row(n) - query).transpose().array() / lengthscales.array();
    const double own = (x.var.row(n).transpose().array() / lengthscales.array().square()).sum();
    all.emplace_back(d.square().sum() + own, static_cast<std::int32_t>(n));
  }
  std::sort(all.begin(), all.end());
  std::vector<std::int32_t> rows;
  for (Index i = 0; i < m; ++i) rows.push_back(all[static_cast<std::size_t>(i)].second);
  return rows;
}

// In one leaf, in two, and in many.
class SearchOf : public testing::TestWithParam<Index> {};

TEST_P(SearchOf, FindsTheNearestRows) {
  RandomStream stream(3);
  for (const bool uncertain : {false, true}) {
    Moments x = Moments::Certain(stream.NormalMatrix(GetParam(), 3));
    if (uncertain) x.var = stream.NormalMatrix(GetParam(), 3).cwiseAbs2();
    const Vector lengthscales = Eigen::Vector3d(0.5, 1, 3);
    const NeighbourSearch search(x, lengthscales, {});
    const ThreadPool pool(2);
    const Moments queries = Moments::Certain(stream.NormalMatrix(5, 3));
    const Neighbours found = search.Find(queries, 7, pool);
    const std::vector<Index> rows = {0, 4, GetParam() - 1};
    const Neighbours others = search.FindOthers(rows, 7, pool);
    for (Index n = 0; n < 5; ++n) {
      const auto expected = Nearest(x, lengthscales, queries.mean.row(n), 7, -1);
      for (Index i = 0; i < 7; ++i) EXPECT_EQ(found(n, i), expected[static_cast<std::size_t>(i)]);
    }
    for (Index r = 0; r < 3; ++r) {
      const auto expected = Nearest(x, lengthscales, x.mean.row(rows[r]), 7, rows[r]);
      for (Index i = 0; i < 7; ++i) EXPECT_EQ(others(r, i), expected[static_cast<std::size_t>(i)]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, SearchOf, testing::Values(30, 100, 2'500));

// Sketches along a few axes may not hide a row: with more columns than axes, on a grid where many
// rows are equally near, and with numbers of very different sizes.
TEST(NeighbourSearch, FindsTheSameAsSortingAllDistances) {
  RandomStream stream(5);
  constexpr Index kRows = 700;
  Matrix grid = stream.NormalMatrix(kRows, 3);
  grid = grid.unaryExpr([](double x) { return std::round(x); });
  Matrix sizes = stream.NormalMatrix(kRows, 4);
  sizes.col(0) *= 1e12;
  sizes.col(1) = sizes.col(1).array() * 1e-12 + 1e6;
  Matrix huge = stream.NormalMatrix(kRows, 2) * 1e30;
  for (const Matrix& values : {stream.NormalMatrix(kRows, 40), grid, sizes, huge}) {
    const Moments x = Moments::Certain(values);
    const Vector lengthscales = Vector::Constant(values.cols(), 0.5);
    // Of whole numbers, all sums are exact.
    Moments queries = Moments::Certain(values.topRows(20) * 3);
    queries.mean.row(0) *= 1000;  // far out
    const Neighbours found = NeighbourSearch(x, lengthscales, {}).Find(queries, 64, ThreadPool(1));
    for (Index n = 0; n < queries.rows(); ++n) {
      const auto expected = Nearest(x, lengthscales, queries.mean.row(n), 64, -1);
      for (Index i = 0; i < 64; ++i)
        ASSERT_EQ(found(n, i), expected[static_cast<std::size_t>(i)]) << n << " " << i;
    }
  }
}

// With so many rows and columns not all leaves are looked at that might hold nearer rows.
TEST(NeighbourSearch, LosesNextToNothingInLargeTables) {
  RandomStream stream(8);
  constexpr Index kRows = 60'000, kWanted = 64;
  const Moments x = Moments::Certain(stream.NormalMatrix(kRows, 20));
  const Vector ones = Vector::Ones(20);
  const Moments queries = Moments::Certain(stream.NormalMatrix(20, 20));
  const Neighbours found = NeighbourSearch(x, ones, {}).Find(queries, kWanted, ThreadPool(1));
  Index missed = 0;
  double distance = 0, least = 0;
  for (Index n = 0; n < queries.rows(); ++n) {
    const auto row = queries.mean.row(n);
    const auto nearest = Nearest(x, ones, row, kWanted, -1);
    for (Index i = 0; i < kWanted; ++i) {
      ASSERT_GE(found(n, i), 0);
      missed += std::count(nearest.begin(), nearest.end(), found(n, i)) == 0 ? 1 : 0;
      distance += (x.mean.row(found(n, i)) - row).norm();
      least += (x.mean.row(nearest[static_cast<std::size_t>(i)]) - row).norm();
    }
  }
  EXPECT_GT(missed, 0);
  EXPECT_LT(distance, 1.01 * least);
}

TEST(NeighbourSearch, FindsAllRowsWhereSoManyAreWanted) {
  RandomStream stream(6);
  const Moments x = Moments::Certain(stream.NormalMatrix(500, 2));
  const Neighbours found =
      NeighbourSearch(x, Vector::Ones(2), {}).Find(x.MiddleRows(0, 1), 600, ThreadPool(1));
  const auto expected = Nearest(x, Vector::Ones(2), x.mean.row(0), 500, -1);
  for (Index i = 0; i < 500; ++i) EXPECT_EQ(found(0, i), expected[static_cast<std::size_t>(i)]);
  EXPECT_EQ(found(0, 500), -1);
}

TEST(NeighbourSearch, OrdersQueriesByPlace) {
  RandomStream stream(7);
  const Moments x = Moments::Certain(stream.NormalMatrix(10'000, 1));
  const NeighbourSearch search(x, Vector::Ones(1), {});
  const Moments queries = Moments::Certain(stream.NormalMatrix(300, 1));
  const std::vector<Index> order = search.InOrder(queries, ThreadPool(1));
  double way = 0, way_in_order = 0;
  for (Index n = 1; n < 300; ++n) {
    way += std::abs(queries.mean(n, 0) - queries.mean(n - 1, 0));
    way_in_order += std::abs(queries.mean(order[static_cast<std::size_t>(n)], 0) -
                             queries.mean(order[static_cast<std::size_t>(n - 1)], 0));
  }
  EXPECT_LT(way_in_order, 0.1 * way);
  std::vector<Index> all = order;
  std::sort(all.begin(), all.end());
  for (Index n = 0; n < 300; ++n) EXPECT_EQ(all[static_cast<std::size_t>(n)], n);
}

TEST(NeighbourSearch, LeavesCopiesOutAndSaysWhenThereAreNoMore) {
  Matrix values(4, 1);
  values << 1, 2, 1, 5;
  const Moments x = Moments::Certain(values);
  const Matrix y = values;
  const std::vector<std::int32_t> copies = FindCopies(x, y);
  EXPECT_EQ(copies, (std::vector<std::int32_t>{0, -1, 0, -1}));
  const std::vector<Index> rows = {0, 1};
  const Neighbours others =
      NeighbourSearch(x, Vector::Ones(1), copies).FindOthers(rows, 3, ThreadPool(1));
  EXPECT_EQ(others(0, 0), 1);
  EXPECT_EQ(others(0, 1), 3);
  EXPECT_EQ(others(0, 2), -1);
  EXPECT_EQ(others(1, 0), 0);
}

TEST(FindCopies, WantsTheSameTargetToo) {
  const Moments x = Moments::Certain(Matrix::Zero(2, 1));
  Matrix y(2, 1);
  y << 1, 2;
  EXPECT_EQ(FindCopies(x, y), (std::vector<std::int32_t>{-1, -1}));
}

}  // namespace
}  // namespace fathom
