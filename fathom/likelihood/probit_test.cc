#include "fathom/likelihood/probit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "fathom/base/error.h"
#include "fathom/distribution/normal_tail.h"
#include "fathom/distribution/prediction.h"
#include "tests/support/gradient.h"
#include "tests/support/log_z.h"

namespace fathom {
namespace {

RowLogZ Call(double alpha, double y, double m, double v) {
  return {Probit(), alpha, Vector::Constant(1, y), Vector::Constant(1, m), Vector::Constant(1, v)};
}

TEST(Probit, QuadratureNearAlphaOneMeetsTheClosedForm) {
  for (const double m : {-1e4, -300.0, -5.0, 0.0, 2.0, 1e4}) {
    for (const double v : {1e-9, 1e-3, 1.0, 50.0, 1e4, 1e8}) {
      const RowLogZ closed = Call(1, 1, m, v);
      const RowLogZ quadrature = Call(1 - 1e-14, 1, m, v);
      const double scale = 1 + std::abs(closed.value);
      EXPECT_NEAR(quadrature.value, closed.value, 2e-12 * scale) << m << " " << v;
      EXPECT_NEAR(quadrature.d_m[0], closed.d_m[0], 1e-9 * (1 + closed.d_m[0])) << m << " " << v;
      EXPECT_NEAR(quadrature.d_v[0], closed.d_v[0], 1e-6 * (1 + std::abs(closed.d_v[0])))
          << m << " " << v;
    }
  }
}

TEST(Probit, GradientFarFromTheEasyPlaces) {
  for (const double alpha : {0.0, 0.1, 0.5, 2.0}) {
    for (const double m : {-40.0, -3.0, 6.0}) {
      for (const double v : {0.01, 30.0, 1e4}) {
        SCOPED_TRACE(testing::Message() << alpha << " " << m << " " << v);
        const RowLogZ row = Call(alpha, 1, m, v);
        const auto value = [&](const Vector& x) { return Call(alpha, 1, x[0], x[1]).value; };
        ExpectGradientMatches(value, Vector{{row.d_m[0], row.d_v[0]}}, Vector{{m, v}}, 2e-7,
                              nullptr, 1e-4);
      }
    }
  }
}

TEST(Probit, NoVarianceIsThePlainLikelihood) {
  for (const double alpha : {0.0, 0.5, 1.0}) {
    const double power = alpha == 0 ? 1 : alpha;
    EXPECT_NEAR(Call(alpha, -1, 0.7, 0).value, power * std::log(NormalCdf(-0.7)), 1e-15);
    const RowLogZ none = Call(alpha, 1, -2, 0);
    const RowLogZ tiny = Call(alpha, 1, -2, 1e-8);
    EXPECT_NEAR(tiny.value, none.value, 1e-7);
    EXPECT_NEAR(tiny.d_m[0], none.d_m[0], 1e-7);
    EXPECT_NEAR(tiny.d_v[0], none.d_v[0], 1e-7);
  }
}

TEST(Probit, WideGaussiansLeaveHalf) {
  EXPECT_NEAR(Call(0.5, 1, 0, 1e8).value, -std::numbers::ln2, 1e-3);
  // E[log Phi] is about -E[f^2; f < 0] / 2.
  EXPECT_NEAR(Call(0, 1, 0, 1e8).value / -2.5e7, 1, 1e-3);
}

TEST(Probit, TheLabelMirrorsTheMean) {
  const RowLogZ plus = Call(0.5, 1, 0.8, 2);
  const RowLogZ minus = Call(0.5, -1, -0.8, 2);
  EXPECT_EQ(plus.value, minus.value);
  EXPECT_EQ(plus.d_m[0], -minus.d_m[0]);
  EXPECT_GT(plus.d_m[0], 0);
}

TEST(Probit, FiniteEverywhere) {
  for (const double alpha : {0.0, 1e-6, 0.1, 0.5, 1.0, 3.0}) {
    for (const double m : {-1e4, -30.0, 0.0, 30.0, 1e4}) {
      for (const double v : {0.0, 1e-300, 1e-30, 1e-9, 1.0, 1e3, 1e8}) {
        const RowLogZ row = Call(alpha, 1, m, v);
        EXPECT_TRUE(row.Finite()) << alpha << " " << m << " " << v;
        EXPECT_LE(row.value, 1e-12);
      }
    }
  }
}

TEST(Probit, ObservesSignsAndClasses) {
  Moments moments(Matrix::Constant(1, 1, 0.6), Matrix::Constant(1, 1, 1.5));
  const Matrix probability = Probit().ClassProbabilities(Vector(), moments);
  EXPECT_NEAR(probability(0, 1), NormalCdf(0.6 / std::sqrt(2.5)), 1e-15);
  EXPECT_NEAR(probability.sum(), 1, 1e-15);
  Probit().Observe(Vector(), &moments);
  const double mean = 2 * probability(0, 1) - 1;
  EXPECT_NEAR(moments.mean(0, 0), mean, 1e-15);
  EXPECT_NEAR(moments.var(0, 0), 1 - mean * mean, 1e-15);
}

TEST(Probit, RefusesOtherLabels) {
  try {
    Probit().CheckTargets(1, Matrix{{1.0}, {-1.0}, {0.0}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("row 2"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace fathom
