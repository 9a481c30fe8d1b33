#include "fathom/ensemble/shares.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fathom/base/random.h"

namespace fathom {
namespace {

// At a maximum with all shares positive, no share can gain at the cost of another: the derivatives
// of the objective with respect to the shares are equal.
TEST(StackShares, MaximiseTheLikelihoodOfTheMixture) {
  const Matrix l = 2 * RandomStream(8).NormalMatrix(50, 3);
  const Vector shares = StackShares(l);
  EXPECT_NEAR(shares.sum(), 1, 1e-12);
  Vector slopes = (3 * shares.array()).inverse();
  for (Index n = 0; n < 50; ++n) {
    const Vector density = l.row(n).array().exp().transpose();
    slopes += density / density.dot(shares);
  }
  EXPECT_NEAR(slopes[1], slopes[0], 1e-3 * slopes[0]);
  EXPECT_NEAR(slopes[2], slopes[0], 1e-3 * slopes[0]);
}

TEST(StackShares, AreEqualForEqualMembersAndSmallForBadOnes) {
  EXPECT_TRUE(StackShares(Matrix::Constant(9, 4, -3)).isApprox(Vector::Constant(4, 0.25)));
  Matrix l = Matrix::Zero(99, 2);
  l.col(1).setConstant(-std::numeric_limits<double>::infinity());
  EXPECT_NEAR(StackShares(l)[1], 0.005, 1e-9);  // half of the one row of the prior
  l.row(3).setConstant(-std::numeric_limits<double>::infinity());
  EXPECT_TRUE(StackShares(l).allFinite());
}

TEST(StackShares, CountARowAsOftenAsItsWeightSays) {
  const Matrix l = 2 * RandomStream(9).NormalMatrix(20, 3);
  Matrix repeated(25, 3);
  repeated << l, l.topRows(5);
  Vector weights = Vector::Ones(20);
  weights.head(5).setConstant(2);
  EXPECT_TRUE(StackShares(l, weights).isApprox(StackShares(repeated), 1e-12));
  EXPECT_FALSE(StackShares(l, weights).isApprox(StackShares(l), 1e-3));
}

}  // namespace
}  // namespace fathom
