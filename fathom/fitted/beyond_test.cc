#include "fathom/fitted/beyond.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/error.h"

namespace fathom {
namespace {

// Two inputs, one target; the line is 1 + 2 x_0.
Beyond Example(Course course) {
  return {.course = course,
          .slope = (Matrix(2, 1) << 2, 0).finished(),
          .intercept = Vector::Constant(1, 1),
          .lengthscales = (Vector(2) << 0.5, 4).finished(),
          .growth = Vector::Constant(1, 0.3),
          .power = 0.5};
}

struct Case {
  Course course;
  double mean;
};

// The row is one unit, so two lengthscales, beyond the edge, where the line has 3 and the members
// 7.
TEST(Beyond, FollowsItsCourse) {
  const Moments x = Moments::Certain((Matrix(1, 2) << 2, 9).finished());
  const Moments edge = Moments::Certain((Matrix(1, 2) << 1, 9).finished());
  for (const auto& [course, mean] : {Case{Course::kStay, 7}, Case{Course::kSlope, 9},
                                     Case{Course::kLine, 5 + 4 * std::exp(-2.0)}}) {
    Moments centre(Matrix::Constant(1, 1, 7), Matrix::Constant(1, 1, 0.25));
    GoBeyond(Example(course), x, edge, &centre);
    EXPECT_NEAR(centre.mean(0, 0), mean, 1e-12) << NameOf(course);
    EXPECT_NEAR(centre.var(0, 0), 0.25 + 0.09 * 2, 1e-12);
  }
}

// At the edge nothing jumps, and the farther away, the wider.
TEST(Beyond, BeginsAtTheEdgeAndGrows) {
  for (const Course course : {Course::kStay, Course::kSlope, Course::kLine}) {
    const Moments edge = Moments::Certain(Matrix::Zero(4, 2));
    Moments x = edge;
    x.mean.col(0) << 1e-12, 0.1, 1, 10;
    Moments centre(Matrix::Constant(4, 1, 7), Matrix::Constant(4, 1, 0.25));
    GoBeyond(Example(course), x, edge, &centre);
    EXPECT_NEAR(centre.mean(0, 0), 7, 1e-9);
    EXPECT_NEAR(centre.var(0, 0), 0.25, 1e-9);
    for (Index n = 1; n < 4; ++n) EXPECT_GT(centre.var(n, 0), centre.var(n - 1, 0));
  }
  // Far away the course `line` is the line itself.
  const Moments edge = Moments::Certain(Matrix::Zero(1, 2));
  Moments x = edge;
  x.mean(0, 0) = 100;
  Moments centre(Matrix::Constant(1, 1, 7), Matrix::Constant(1, 1, 0.25));
  GoBeyond(Example(Course::kLine), x, edge, &centre);
  EXPECT_NEAR(centre.mean(0, 0), 201, 1e-9);
}

TEST(Beyond, GrowsUpToItsLimit) {
  const Moments edge = Moments::Certain(Matrix::Zero(2, 2));
  Moments x = edge;
  x.mean.col(0) << 0.5, 500;  // 1 and 1000 lengthscales
  Beyond beyond = Example(Course::kStay);
  beyond.limit = 3;
  Moments centre(Matrix::Constant(2, 1, 7), Matrix::Constant(2, 1, 0.25));
  GoBeyond(beyond, x, edge, &centre);
  EXPECT_NEAR(centre.var(0, 0), 0.25 + 0.09, 1e-12);
  EXPECT_NEAR(centre.var(1, 0), 0.25 + 9, 1e-12);
}

TEST(Beyond, IsChecked) {
  EXPECT_NO_THROW(CheckBeyond(Example(Course::kLine), 2, 1));
  EXPECT_THROW(CheckBeyond(Example(Course::kLine), 3, 1), Error);
  EXPECT_THROW(CheckBeyond(Example(Course::kLine), 2, 2), Error);
  Beyond bad = Example(Course::kLine);
  bad.growth[0] = -1;
  EXPECT_THROW(CheckBeyond(bad, 2, 1), Error);
  bad = Example(Course::kLine);
  bad.lengthscales[1] = 0;
  EXPECT_THROW(CheckBeyond(bad, 2, 1), Error);
  bad = Example(Course::kLine);
  bad.limit = -1;
  EXPECT_THROW(CheckBeyond(bad, 2, 1), Error);
  bad = Example(Course::kLine);
  bad.margin = NAN;
  EXPECT_THROW(CheckBeyond(bad, 2, 1), Error);
}

}  // namespace
}  // namespace fathom
