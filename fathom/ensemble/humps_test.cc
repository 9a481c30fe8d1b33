#include "fathom/ensemble/humps.h"

#include <gtest/gtest.h>

#include "fathom/base/random.h"

namespace fathom {
namespace {

// Gaussian errors, of which so many lie `gap` higher.
Vector Errors(Index rows, Index higher, double gap) {
  Vector errors = RandomStream(1).NormalMatrix(rows, 1);
  errors.head(higher).array() += gap;
  return errors;
}

TEST(FindHumps, TellsTwoFromOne) {
  const Humps two = FindHumps(Errors(300, 100, 6));
  EXPECT_NEAR(two.gap, 6, 0.3);
  EXPECT_NEAR(two.between, 3, 1);
  EXPECT_EQ(FindHumps(Errors(300, 0, 0)).gap, 0);
  EXPECT_EQ(FindHumps(Errors(300, 100, 2)).gap, 0) << "one broad hump";
  EXPECT_EQ(FindHumps(Errors(300, 10, 30)).gap, 0) << "outliers";
  EXPECT_EQ(FindHumps(Vector::Zero(50)).gap, 0) << "no errors at all";
}

TEST(FindHumps, WeightsAreCopies) {
  const Vector errors = Errors(50, 20, 8);
  Vector weights = Vector::Ones(50);
  weights[3] = weights[30] = 3;
  Vector copies(54);
  copies << errors, errors[3], errors[3], errors[30], errors[30];
  EXPECT_NEAR(FindHumps(errors, weights).gap, FindHumps(copies).gap, 1e-12);
  EXPECT_EQ(FindHumps(errors, weights).between, FindHumps(copies).between);
}

}  // namespace
}  // namespace fathom
