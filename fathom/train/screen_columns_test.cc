#include "fathom/train/screen_columns.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/random.h"

namespace fathom {
namespace {

// Of D columns in [-1, 1], the first two matter, and only together.
ScaledRows Interplay(Index N, Index D) {
  RandomStream stream(4);
  ScaledRows rows{Moments::Certain(Matrix(N, D)), Matrix(N, 1)};
  for (Index n = 0; n < N; ++n) {
    for (Index d = 0; d < D; ++d) rows.x.mean(n, d) = std::sqrt(3.0) * (2 * stream.Uniform() - 1);
    rows.y(n, 0) = 2 * std::sin(2 * rows.x.mean(n, 0)) * std::cos(2 * rows.x.mean(n, 1));
  }
  return rows;
}

TEST(ScreenColumns, FindsTheOnesThatMatter) {
  const ThreadPool pool(2);
  const ScaledRows rows = Interplay(1500, 12);
  const Vector lengthscales = ScreenColumns(rows, 1, pool);
  ASSERT_EQ(lengthscales.size(), 12);
  EXPECT_GT(lengthscales.tail(10).minCoeff(), 3 * lengthscales.head(2).maxCoeff());
  // The same bits for any number of threads.
  EXPECT_EQ(ScreenColumns(rows, 1, ThreadPool(1)), lengthscales);
}

TEST(ScreenColumns, LeavesOrdinaryTablesAlone) {
  const ThreadPool pool(1);
  EXPECT_EQ(ScreenColumns(Interplay(1500, 9), 1, pool).size(), 0);  // few columns
  EXPECT_EQ(ScreenColumns(Interplay(100, 12), 1, pool).size(), 0);  // few rows
  ScaledRows plain = Interplay(500, 12);
  plain.y = plain.x.mean.rowwise().sum() / std::sqrt(12.0);  // all matter
  EXPECT_EQ(ScreenColumns(plain, 1, pool).size(), 0);
  RandomStream stream(5);
  plain.y = stream.NormalMatrix(500, 1);  // none matters
  EXPECT_EQ(ScreenColumns(plain, 1, pool).size(), 0);
}

}  // namespace
}  // namespace fathom
