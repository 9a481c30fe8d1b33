#include "fathom/inference/moment_matching.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/dense.h"
#include "tests/support/random_model.h"

namespace fathom {
namespace {

// Some factor that may widen a direction, but leaves a distribution.
Natural RandomNatural(Index M, RandomStream* stream) {
  return {RandomVector(M, stream), 0.2 * RandomSymmetric(M, stream)};
}

TEST(MomentMatching, BeliefAgainstExplicitInverses) {
  RandomStream stream(1);
  const Natural factor = RandomNatural(5, &stream);
  Belief belief;
  ASSERT_TRUE(ToBelief(factor, &belief));
  const Matrix precision = Matrix::Identity(5, 5) + factor.T;
  const Matrix V = Inverse(precision);
  const Vector m = Apply(V, factor.h);
  EXPECT_LT(Distance(belief.V, V), 1e-13);
  EXPECT_LT(Distance(belief.m, m), 1e-13);
  EXPECT_NEAR(belief.phi, -0.5 * std::log(Determinant(precision)) + 0.5 * m.dot(factor.h), 1e-12);
  const Natural back = ToNatural(ToWhitened(belief));
  EXPECT_LT(Distance(back.T, factor.T), 1e-12);
  EXPECT_LT(Distance(back.h, factor.h), 1e-12);
}

TEST(MomentMatching, WhatIsNoDistributionIsRefused) {
  Natural factor = Natural::Zero(3);
  factor.T(1, 1) = -1.5;
  Belief belief;
  EXPECT_FALSE(ToBelief(factor, &belief));
  factor.T(1, 1) = std::nan("");
  EXPECT_FALSE(ToBelief(factor, &belief));

  ASSERT_TRUE(ToBelief(Natural::Zero(3), &belief));
  CavitySlopes slopes{Vector::Zero(3), Matrix::Zero(3, 3)};
  slopes.E(0, 0) = 0.6;  // V_q = 1 - 1.2
  EXPECT_FALSE(MatchMoments(belief, slopes, 1, &factor));
  LineFactor line;
  EXPECT_FALSE(MatchMoments(0, 1, 0, -0.6, 1, &line));
  EXPECT_FALSE(MatchMoments(0, 1, std::nan(""), 0, 1, &line));
}

TEST(MomentMatching, FactorTimesCavityHasThePapersMoments) {
  RandomStream stream(2);
  for (const double alpha : {1.0, 0.3}) {
    const Natural others = RandomNatural(4, &stream);
    Belief cavity;
    ASSERT_TRUE(ToBelief(others, &cavity));
    const CavitySlopes slopes{0.3 * RandomVector(4, &stream), 0.1 * RandomSymmetric(4, &stream)};
    Natural factor;
    ASSERT_TRUE(MatchMoments(cavity, slopes, alpha, &factor));
    Belief q;
    ASSERT_TRUE(ToBelief({others.h + alpha * factor.h, others.T + alpha * factor.T}, &q));
    EXPECT_LT(Distance(q.m, cavity.m + Apply(cavity.V, slopes.g)), 1e-12);
    const Matrix D = SelfProduct(slopes.g) + 2 * slopes.E;
    EXPECT_LT(Distance(q.V, cavity.V - Times(cavity.V, D, cavity.V)), 1e-12);
  }
}

TEST(MomentMatching, ALineIsAFactorOfRankOne) {
  RandomStream stream(3);
  Belief cavity;
  ASSERT_TRUE(ToBelief(RandomNatural(4, &stream), &cavity));
  const Vector c = 0.5 * RandomVector(4, &stream);
  const double d_t = 0.4;
  const double d_s = -0.1;
  for (const double alpha : {0.0, 0.5, 1.0}) {
    Natural dense;
    ASSERT_TRUE(MatchMoments(cavity, CavitySlopes{d_t * c, -d_s * SelfProduct(c)}, alpha, &dense));
    LineFactor line;
    ASSERT_TRUE(MatchMoments(c.dot(cavity.m), c.dot(Apply(cavity.V, c)), d_t, d_s, alpha, &line));
    EXPECT_LT(Distance(dense.T, line.T * SelfProduct(c)), 1e-12) << alpha;
    EXPECT_LT(Distance(dense.h, line.h * c), 1e-12) << alpha;
  }
}

TEST(MomentMatching, SmallAlphaTendsToTheVariationalLimit) {
  RandomStream stream(4);
  Belief cavity;
  ASSERT_TRUE(ToBelief(RandomNatural(4, &stream), &cavity));
  // For small alpha the slopes of log Z are alpha times their limit.
  const CavitySlopes limit{RandomVector(4, &stream), RandomSymmetric(4, &stream)};
  Natural expected;
  ASSERT_TRUE(MatchMoments(cavity, limit, 0, &expected));
  const double alpha = 1e-7;
  Natural factor;
  ASSERT_TRUE(MatchMoments(cavity, {alpha * limit.g, alpha * limit.E}, alpha, &factor));
  EXPECT_LT(Distance(factor.T, expected.T), 1e-5);
  EXPECT_LT(Distance(factor.h, expected.h), 1e-5);
}

}  // namespace
}  // namespace fathom
