#include "fathom/likelihood/softmax.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/error.h"
#include "tests/support/gradient.h"
#include "tests/support/log_z.h"
#include "tests/support/quadrature.h"

namespace fathom {
namespace {

RowLogZ Call(double alpha, Index label, const Vector& m, const Vector& v) {
  return {Softmax(), alpha, Vector::Constant(1, static_cast<double>(label)), m, v};
}

double LogSoftmax(Index label, const Vector& f) {
  return f[label] - f.maxCoeff() - std::log((f.array() - f.maxCoeff()).exp().sum());
}

TEST(Softmax, ThreeClassesAgainstAGridOfNodes) {
  const GaussHermite rule(60);
  const Vector m{{0.4, -1.2, 0.1}};
  const Vector v{{1.1, 0.3, 0.02}};
  for (const double alpha : {0.3, 1.0, 2.5}) {
    const double z =
        Expect(rule, m, v, [&](const Vector& f) { return std::exp(alpha * LogSoftmax(1, f)); });
    EXPECT_NEAR(Call(alpha, 1, m, v).value, std::log(z), 1e-10) << alpha;
  }
  const double expected = Expect(rule, m, v, [&](const Vector& f) { return LogSoftmax(1, f); });
  EXPECT_NEAR(Call(0, 1, m, v).value, expected, 1e-10);
}

TEST(Softmax, NoVarianceIsThePlainLikelihood) {
  for (const Vector& m : {Vector{{0.4, -1.2, 0.1}}, Vector{{-1e4, 0, 3}}, Vector{{1e4, 0, 3}}}) {
    for (const double alpha : {0.0, 0.5, 1.0}) {
      const double power = alpha == 0 ? 1 : alpha;
      const RowLogZ row = Call(alpha, 0, m, Vector::Zero(3));
      EXPECT_NEAR(row.value, power * LogSoftmax(0, m), 1e-11) << alpha;
      Vector slope = Vector::Unit(3, 0);
      for (Index j = 0; j < 3; ++j) slope[j] -= std::exp(LogSoftmax(j, m));
      EXPECT_LT((row.d_m - power * slope).cwiseAbs().maxCoeff(), 1e-11);
    }
  }
}

TEST(Softmax, ProbabilitiesSumToOneForAnyNumberOfClassesAndAnyVariance) {
  for (const Index K : {2, 3, 12}) {
    for (const double v : {0.0, 1e-3, 0.3, 2.0, 63.0, 65.0, 1e4}) {
      const Matrix mean = Vector::LinSpaced(K, -1, 2).transpose() * std::sqrt(1 + v);
      const Matrix var = Vector::LinSpaced(K, 0.5 * v, v).transpose();
      const Matrix probability = Softmax().ClassProbabilities(Vector(), Moments(mean, var));
      EXPECT_NEAR(probability.sum(), 1, 3e-11) << K << " " << v;
      EXPECT_GT(probability.minCoeff(), 0);
    }
  }
}

TEST(Softmax, TheLatticeAndThePanelsMeet) {
  const Vector m{{0.4, -1.2, 3}};
  for (const double alpha : {0.0, 0.5, 1.0}) {
    const RowLogZ lattice = Call(alpha, 0, m, Vector{{64, 64, 1}});
    const RowLogZ panels = Call(alpha, 0, m, Vector{{64 + 1e-9, 64 + 1e-9, 1}});
    EXPECT_NEAR(lattice.value, panels.value, 1e-9);
    EXPECT_LT((lattice.d_m - panels.d_m).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LT((lattice.d_v - panels.d_v).cwiseAbs().maxCoeff(), 1e-9);
  }
}

TEST(Softmax, GradientOfManyClasses) {
  Vector point(12);
  point << 0.3, -1, 2, 0.1, 0, 1, 0.4, 0.2, 1, 3, 0.01, 20;
  for (const double alpha : {0.0, 0.5, 1.0, 3.0}) {
    const RowLogZ row = Call(alpha, 3, point.head(6), point.tail(6));
    Vector gradient(12);
    gradient << row.d_m, row.d_v;
    const auto value = [&](const Vector& x) { return Call(alpha, 3, x.head(6), x.tail(6)).value; };
    ExpectGradientMatches(value, gradient, point, 1e-8);
    EXPECT_NEAR(row.d_m.sum(), 0, 1e-11) << "moving all together changes nothing";
  }
}

TEST(Softmax, AHopelessClassIsAnExponentialMoment) {
  // Where c is far below a certain rival, p^alpha is exp(alpha (f_c - f_1)).
  for (const double v : {0.0, 4.0, 50.0, 1e4}) {
    const RowLogZ row = Call(0.5, 0, Vector{{-1e4, 0}}, Vector{{v, 0}});
    EXPECT_NEAR(row.value, -5000 + 0.125 * v, 1e-8) << v;
    EXPECT_NEAR(row.d_m[0], 0.5, 1e-10) << v;
    EXPECT_NEAR(row.d_v[0], 0.125, 1e-10) << v;
  }
}

TEST(Softmax, FiniteEverywhere) {
  for (const double m : {-1e4, 0.0, 1e4}) {
    for (const double v0 : {0.0, 1e-9, 1.0, 1e8}) {
      for (const double v1 : {0.0, 1.0, 1e8}) {
        for (const double alpha : {0.0, 1e-6, 0.5, 1.0}) {
          const RowLogZ row = Call(alpha, 0, Vector{{m, 0, 0}}, Vector{{v0, v1, 0.5}});
          EXPECT_TRUE(row.Finite()) << m << " " << v0 << " " << v1 << " " << alpha;
          EXPECT_LE(row.value, 1e-8);
        }
      }
    }
  }
}

TEST(Softmax, ObservesIndicatorsOfTheClasses) {
  Moments moments(Matrix{{0.1, 0.4, -1}}, Matrix{{1, 0.5, 2}});
  const Matrix probability = Softmax().ClassProbabilities(Vector(), moments);
  Softmax().Observe(Vector(), &moments);
  EXPECT_EQ(moments.mean, probability);
  EXPECT_NEAR(moments.var(0, 1), probability(0, 1) * (1 - probability(0, 1)), 1e-15);
}

TEST(Softmax, RefusesLabelsThatAreNoClass) {
  EXPECT_THROW(Softmax().CheckTargets(3, Matrix::Constant(1, 1, 3)), Error);
}

}  // namespace
}  // namespace fathom
