#include "fathom/ensemble/edges.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/random.h"

namespace fathom {
namespace {

// y(t) for t = 0 to 1, scaled.
template <typename Function>
ScaledTable TableOf(Index N, const Function& y) {
  ScaledTable table;
  table.x = Moments::Certain(Matrix(N, 1));
  table.y.resize(N, 1);
  for (Index n = 0; n < N; ++n) {
    table.x.mean(n, 0) = (static_cast<double>(n) / static_cast<double>(N) - 0.5) * std::sqrt(12.0);
    table.y(n, 0) = y(table.x.mean(n, 0));
  }
  table.y.array() -= table.y.mean();
  table.y /= std::sqrt(table.y.squaredNorm() / static_cast<double>(N));
  return table;
}

// One that has seen what a line leaves over: of the last column, the line, it knows nothing.
NeighbourGp Gp(double lengthscale, double variance, double noise) {
  return {Correlation::kMatern32, (Vector(2) << lengthscale, 100).finished(), variance, noise};
}

TEST(Edges, ALineGoesOnAsALine) {
  const ThreadPool pool(1);
  RandomStream stream(1);
  const ScaledTable table = TableOf(200, [&](double t) { return t + 0.3 * stream.Normal(); });
  const auto beyond = FitBeyond(table, {Gp(1, 0.001, 0.09)}, pool);
  ASSERT_NE(beyond, nullptr);
  EXPECT_EQ(beyond->course, Course::kLine);
  EXPECT_EQ(beyond->limit, 0);
  EXPECT_EQ(beyond->margin, 0.05);
  EXPECT_NEAR(beyond->slope(0, 0), 0.96, 0.05);
  EXPECT_LE(beyond->power, 1);
  // Its errors hardly grow: three lengthscales add about the noise.
  EXPECT_LT(beyond->growth[0] * std::pow(3, beyond->power), 0.45);
}

// Blocks that end far from the line, as waves do, seem to say that errors grow fast.
TEST(Edges, ErrorsOfALineGrowNoFasterThanTheDistance) {
  const ThreadPool pool(1);
  RandomStream stream(5);
  for (const double phase : {0.0, 1.0, 2.0, 3.0}) {
    const ScaledTable table = TableOf(
        150, [&](double t) { return t + 0.3 * std::sin(20 * t + phase) + 0.05 * stream.Normal(); });
    const auto beyond = FitBeyond(table, {Gp(0.1, 0.05, 0.003)}, pool);
    ASSERT_NE(beyond, nullptr);
    EXPECT_EQ(beyond->course, Course::kLine);
    EXPECT_LE(beyond->power, 1);
  }
}

TEST(Edges, AStepThatIsOverStaysWhereItIs) {
  const ThreadPool pool(1);
  RandomStream stream(2);
  const ScaledTable table =
      TableOf(200, [&](double t) { return std::tanh(5 * t) + 0.05 * stream.Normal(); });
  const auto beyond = FitBeyond(table, {Gp(0.5, 0.3, 0.0025)}, pool);
  ASSERT_NE(beyond, nullptr);
  EXPECT_EQ(beyond->course, Course::kStay);
  EXPECT_GT(beyond->limit, 0);
}

// A curve that no course follows: the errors at its edges are a promise of errors beyond.
TEST(Edges, ACurveMakesErrorsGrow) {
  const ThreadPool pool(1);
  RandomStream stream(3);
  const ScaledTable table = TableOf(200, [&](double t) { return t * t + 0.05 * stream.Normal(); });
  const auto beyond = FitBeyond(table, {Gp(1, 1, 0.0025)}, pool);
  ASSERT_NE(beyond, nullptr);
  EXPECT_GT(beyond->growth[0], 0.1);
}

// All blocks of two clusters would lie in a margin, so there is none.
TEST(Edges, ClustersHaveEdgesWithoutAMargin) {
  const ThreadPool pool(1);
  RandomStream stream(4);
  ScaledTable table = TableOf(200, [&](double t) { return t * t + 0.05 * stream.Normal(); });
  for (Index n = 0; n < 200; ++n) {
    double& x = table.x.mean(n, 0);
    x = (x > 0 ? 1 : -1) + 0.01 * x;
  }
  const auto beyond = FitBeyond(table, {Gp(0.02, 1, 0.0025)}, pool);
  ASSERT_NE(beyond, nullptr);
  EXPECT_EQ(beyond->margin, 0);
  EXPECT_GT(beyond->growth[0], 0.01);
}

// A column of two values has no end that could be held out.
TEST(Edges, ThereMayBeNone) {
  const ThreadPool pool(1);
  ScaledTable table = TableOf(100, [](double t) { return t; });
  for (Index n = 0; n < 100; ++n) table.x.mean(n, 0) = n % 2 == 0 ? 1 : -1;
  EXPECT_EQ(FitBeyond(table, {Gp(1, 1, 0.1)}, pool), nullptr);
}

}  // namespace
}  // namespace fathom
