#include "fathom/likelihood/robust_max.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/error.h"
#include "fathom/distribution/prediction.h"
#include "tests/support/gradient.h"
#include "tests/support/log_z.h"

namespace fathom {
namespace {

double P(Index c, const Vector& m, const Vector& v) {
  return RobustMax::LargestProbability(c, m.size(), m.data(), v.data(), nullptr, nullptr);
}

TEST(RobustMax, TwoClassesAreAProbit) {
  for (const double gap : {-9.0, -0.4, 0.0, 1.3, 40.0}) {
    for (const double v0 : {1e-6, 0.3, 7.0, 1e8}) {
      for (const double v1 : {1e-3, 2.0, 1e5}) {
        const Vector m{{gap, 0}};
        const Vector v{{v0, v1}};
        EXPECT_NEAR(P(0, m, v), NormalCdf(gap / std::sqrt(v0 + v1)), 1e-12)
            << gap << " " << v0 << " " << v1;
      }
    }
  }
}

TEST(RobustMax, EqualRivalsShareAlike) {
  for (const Index K : {2, 3, 7, 20}) {
    EXPECT_NEAR(P(1, Vector::Constant(K, 5), Vector::Constant(K, 0.2)), 1 / static_cast<double>(K),
                1e-12);
  }
}

TEST(RobustMax, ProbabilitiesOfTheLargestSumToOneForWidthsOfAllSizes) {
  const Vector m{{0.3, -1, 2, 0.1, 0}};
  const Vector v{{1e-6, 1, 30, 0.02, 1e4}};
  double sum = 0;
  for (Index c = 0; c < 5; ++c) sum += P(c, m, v);
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(RobustMax, LogZIsExactInP) {
  const Vector m{{0.2, -0.3, 0.5}};
  const Vector v{{0.3, 0.5, 1.1}};
  const double p = P(2, m, v);
  const double hit = 1 - RobustMax::kEpsilon;
  const double miss = RobustMax::kEpsilon / 2;
  const auto log_z = [&](double alpha) {
    return RowLogZ(RobustMax(), alpha, Vector::Constant(1, 2), m, v).value;
  };
  EXPECT_NEAR(log_z(0), p * std::log(hit) + (1 - p) * std::log(miss), 1e-14);
  for (const double alpha : {0.25, 1.0, 2.0}) {
    EXPECT_NEAR(std::exp(log_z(alpha)), p * std::pow(hit, alpha) + (1 - p) * std::pow(miss, alpha),
                1e-14);
  }
}

TEST(RobustMax, GradientOfManyClasses) {
  const RobustMax likelihood;
  const Vector label = Vector::Constant(1, 3);
  Vector point(14);
  point << 0.3, -1, 2, 0.1, 0, 1, 0.4, 0.2, 1, 3, 0.5, 0.1, 2, 0.7;
  for (const double alpha : {0.0, 0.5, 1.0}) {
    const RowLogZ row(likelihood, alpha, label, point.head(7), point.tail(7));
    Vector gradient(14);
    gradient << row.d_m, row.d_v;
    const auto value = [&](const Vector& x) {
      return RowLogZ(likelihood, alpha, label, x.head(7), x.tail(7)).value;
    };
    ExpectGradientMatches(value, gradient, point, 1e-9);
    EXPECT_NEAR(row.d_m.sum(), 0, 1e-14) << "moving all together changes nothing";
  }
}

TEST(RobustMax, FiniteEverywhere) {
  for (const double m : {-1e4, 0.0, 1e4}) {
    for (const double v0 : {0.0, 1e-9, 1.0, 1e8}) {
      for (const double v1 : {0.0, 1.0, 1e8}) {
        for (const double alpha : {0.0, 1e-6, 0.5, 1.0}) {
          const RowLogZ row(RobustMax(), alpha, Vector::Zero(1), Vector{{m, 0, 0}},
                            Vector{{v0, v1, 0.5}});
          EXPECT_TRUE(row.Finite()) << m << " " << v0 << " " << v1 << " " << alpha;
          EXPECT_LE(row.value, 0);
        }
      }
    }
  }
}

TEST(RobustMax, ObservesIndicatorsOfTheClasses) {
  Moments moments(Matrix{{0.1, 0.4, -1}}, Matrix{{1, 0.5, 2}});
  const Matrix probability = RobustMax().ClassProbabilities(Vector(), moments);
  EXPECT_NEAR(probability.sum(), 1, 1e-12);
  RobustMax().Observe(Vector(), &moments);
  EXPECT_EQ(moments.mean, probability);
  EXPECT_NEAR(moments.var(0, 1), probability(0, 1) * (1 - probability(0, 1)), 1e-15);
}

TEST(RobustMax, RefusesLabelsThatAreNoClassAndASingleClass) {
  const RobustMax likelihood;
  EXPECT_NO_THROW(likelihood.CheckTargets(3, Matrix{{0.0}, {2.0}}));
  for (const double label : {-1.0, 3.0, 0.5, static_cast<double>(NAN)})
    EXPECT_THROW(likelihood.CheckTargets(3, Matrix::Constant(1, 1, label)), Error) << label;
  EXPECT_THROW(likelihood.CheckTargets(1, Matrix::Zero(1, 1)), Error);
}

}  // namespace
}  // namespace fathom
