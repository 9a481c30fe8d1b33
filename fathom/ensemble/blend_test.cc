#include "fathom/ensemble/blend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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

TEST(BlendGain, IsWhatTheBestShareOfANewcomerGains) {
  RandomStream stream(6);
  const Vector others = stream.NormalMatrix(200, 1);
  const Vector newcomer = 0.3 * others + stream.NormalMatrix(200, 1);
  Vector counts = Vector::Ones(200);
  counts.head(50).setConstant(4);
  const double gain = BlendGain(others, newcomer, counts);
  double least = 1;
  for (double t = 0; t <= 1; t += 0.001) {
    const Vector both = (1 - t) * others + t * newcomer;
    least = std::min(least, counts.dot(both.cwiseAbs2()) / counts.dot(others.cwiseAbs2()));
  }
  EXPECT_NEAR(gain, 1 - least, 1e-5);
  EXPECT_GT(gain, 0.1);
  EXPECT_GT(std::abs(gain - BlendGain(others, newcomer)), 1e-4);  // rows count differently
  // One that errs in the same direction but twice as far is of no use, nor is an equal one.
  EXPECT_EQ(BlendGain(others, 2 * others), 0);
  EXPECT_EQ(BlendGain(others, others), 0);
  EXPECT_EQ(BlendGain(Vector::Zero(3), Vector::Ones(3)), 0);
  EXPECT_NEAR(BlendGain(others, Vector::Zero(200)), 1, 1e-12);
}

TEST(PruneBlend, LeavesOutMembersThatGainLessThanTheyMust) {
  RandomStream stream(7);
  const Matrix noise = stream.NormalMatrix(5000, 4);
  Matrix errors(5000, 4);
  errors.col(0) = noise.col(0);
  errors.col(1) = noise.col(1);
  errors.col(2) =
      noise.col(0) + 0.05 * noise.col(2);  // hardly tells anything that the first does not
  errors.col(3) = 20 * noise.col(3);       // hardly tells anything at all
  const Vector all = BlendWeights(errors);
  EXPECT_GT(all.minCoeff(), 0);
  const Vector kept = PruneBlend(errors, all, 0.01);
  EXPECT_EQ(kept[3], 0);
  EXPECT_EQ((kept.array() > 0).count(), 2);
  EXPECT_GT(kept[1], 0.4);
  EXPECT_NEAR(kept.sum(), 1, 1e-12);
  EXPECT_LE((errors * kept).squaredNorm(), 1.01 * (errors * all).squaredNorm());
  EXPECT_EQ((PruneBlend(errors, all, 1e9).array() > 0).count(), 1);  // one is always left
}

}  // namespace
}  // namespace fathom
