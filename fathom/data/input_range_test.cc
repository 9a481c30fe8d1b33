#include "fathom/data/input_range.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/nan.h"

namespace fathom {
namespace {

Matrix Rows(std::initializer_list<std::initializer_list<double>> rows) {
  Matrix values(static_cast<Index>(rows.size()), static_cast<Index>(rows.begin()->size()));
  Index n = 0;
  for (const auto& row : rows) {
    Index c = 0;
    for (const double cell : row) values(n, c++) = cell;
    ++n;
  }
  return values;
}

TEST(InputRange, IsThatOfTheCellsThatAreThere) {
  const InputRange range =
      FindInputRange(Moments::Certain(Rows({{1, kNaN, kNaN}, {-2, 5, kNaN}, {0, 4, kNaN}})));
  EXPECT_EQ(range.low[0], -2);
  EXPECT_EQ(range.high[0], 1);
  EXPECT_EQ(range.low[1], 4);
  EXPECT_EQ(range.high[1], 5);
  EXPECT_TRUE(std::isnan(range.low[2]) && std::isnan(range.high[2]));
  EXPECT_EQ(range, range);
  EXPECT_FALSE(InputRange{}.known());
}

TEST(InputRange, UnionHoldsBoth) {
  const InputRange a = FindInputRange(Moments::Certain(Rows({{0, kNaN}, {1, kNaN}})));
  const InputRange b = FindInputRange(Moments::Certain(Rows({{-1, 7}, {0.5, 8}})));
  const InputRange both = Union(a, b);
  EXPECT_EQ(both.low, (Vector(2) << -1, 7).finished());
  EXPECT_EQ(both.high, (Vector(2) << 1, 8).finished());
  EXPECT_FALSE(Union(a, {}).known());
}

// A category of three levels and its indicators are one column; the edge itself lies inside.
TEST(InputRange, CountsColumnsOfTheFile) {
  Schema schema;
  schema.inputs = {{.name = "size"}, {.name = "colour", .levels = {"blue", "green", "red"}}};
  schema.targets = {"y"};
  const InputRange range =
      FindInputRange(Moments::Certain(Rows({{1, 1, 0, 0}, {2, 0, 1, 0}, {3, 1, 0, 0}})));
  const Moments rows = Moments::Certain(
      Rows({{3, 0, 1, 0}, {3.1, 1, 0, 0}, {kNaN, kNaN, kNaN, kNaN}, {0, 0, 0, 1}}));
  std::vector<Index> by_column;
  const Vector count = CountOutside(range, schema, rows, &by_column);
  EXPECT_EQ(count, (Vector(4) << 0, 1, 0, 2).finished());
  EXPECT_EQ(by_column, (std::vector<Index>{2, 1}));
}

TEST(InputRange, WidensByAPartOfEachColumn) {
  const InputRange range =
      Widened(FindInputRange(Moments::Certain(Rows({{0, 10, kNaN}, {1, 30, kNaN}}))), 0.05);
  EXPECT_EQ(range.low.head(2), (Vector(2) << -0.05, 9).finished());
  EXPECT_EQ(range.high.head(2), (Vector(2) << 1.05, 31).finished());
  EXPECT_TRUE(std::isnan(range.low[2]));
}

TEST(InputRange, ClippedRowsLieInside) {
  const InputRange range = FindInputRange(Moments::Certain(Rows({{0, 10}, {1, 20}})));
  const Moments clipped = Clipped(range, Moments::Certain(Rows({{-5, 15}, {0.5, kNaN}, {2, 21}})));
  EXPECT_EQ(clipped.mean(0, 0), 0);
  EXPECT_EQ(clipped.mean(0, 1), 15);
  EXPECT_EQ(clipped.mean(1, 0), 0.5);
  EXPECT_TRUE(std::isnan(clipped.mean(1, 1)));
  EXPECT_EQ(clipped.mean(2, 0), 1);
  EXPECT_EQ(clipped.mean(2, 1), 20);
}

}  // namespace
}  // namespace fathom
