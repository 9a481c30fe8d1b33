#include "fathom/ensemble/blend.h"

#include <gtest/gtest.h>

#include "fathom/base/random.h"

namespace fathom {
namespace {

double ErrorOfBlend(const Matrix& errors, const Vector& w) {
  const double ridge = errors.squaredNorm() / static_cast<double>(errors.size());
  return (errors * w).squaredNorm() + ridge * w.squaredNorm();
}

TEST(BlendWeights, NoOtherWeightsAreBetter) {
  RandomStream stream(1);
  for (int trial = 0; trial < 20; ++trial) {
    const Matrix errors = stream.NormalMatrix(30, 5) * stream.NormalMatrix(5, 5);
    const Vector w = BlendWeights(errors);
    EXPECT_NEAR(w.sum(), 1, 1e-12);
    EXPECT_GE(w.minCoeff(), 0);
    const double best = ErrorOfBlend(errors, w);
    for (int other = 0; other < 200; ++other) {
      Vector v = stream.NormalMatrix(5, 1).cwiseAbs();
      v /= v.sum();
      EXPECT_GE(ErrorOfBlend(errors, v), best * (1 - 1e-9));
      EXPECT_GE(ErrorOfBlend(errors, 0.99 * w + 0.01 * v), best * (1 - 1e-9));
    }
  }
}

TEST(BlendWeights, EqualMembersCountAlikeAndAWeightIsAsManyRows) {
  RandomStream stream(2);
  Matrix errors(40, 2);
  errors.col(0) = errors.col(1) = stream.NormalMatrix(40, 1);
  EXPECT_TRUE(BlendWeights(errors).isApprox(Vector::Constant(2, 0.5), 1e-6));
  errors = stream.NormalMatrix(40, 2);
  errors.topRows(5).col(0) *= 5;
  Vector weights = Vector::Ones(40);
  weights.head(5).setConstant(3);
  EXPECT_LT(BlendWeights(errors, weights)[0], BlendWeights(errors)[0]);
}

// Two members that are equally good by themselves: what the rows say for the second is chance.
TEST(Blend, IsDoubtedWhereRowsTellNothing) {
  RandomStream stream(5);
  const Matrix noise = stream.NormalMatrix(150, 1);
  Matrix errors(150, 2);
  errors << noise, noise + 0.2 * stream.NormalMatrix(150, 1);
  const Vector weights = BlendWeights(errors);
  EXPECT_GT(DoubtBlend(errors, weights)[0], 0.99);
  // Ten thousand rows of which the second explains half are believed.
  const Matrix many = stream.NormalMatrix(10000, 1);
  Matrix clear(10000, 2);
  clear << many + stream.NormalMatrix(10000, 1), many;
  const Vector blended = BlendWeights(clear);
  EXPECT_EQ(DoubtBlend(clear, blended), blended);
  // Two targets that repeat each other are no more certain than one.
  Matrix twice(300, 2);
  twice << errors, errors;
  EXPECT_EQ(DoubtBlend(twice, weights, 2), DoubtBlend(errors, weights, 1));
}

}  // namespace
}  // namespace fathom
