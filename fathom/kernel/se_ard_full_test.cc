#include "fathom/kernel/se_ard_full.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"
#include "fathom/base/random.h"
#include "tests/support/kernel_quadrature.h"

namespace fathom::se_ard {
namespace {

// Everything that the expectations depend on.
struct Problem {
  Vector theta1, theta2;
  Matrix Z1, Z2;
  Vector a;  // [M1]
  Matrix B;  // [M1, M1]
  Matrix W;  // [M1, M2]
  Vector mu;
  Matrix Sigma;

  Points first() const { return {theta1, Z1}; }
  Points second() const { return {theta2, Z2}; }

  Problem ZeroLike() const {
    Problem zero = *this;
    for (Vector* v : {&zero.theta1, &zero.theta2, &zero.a, &zero.mu}) v->setZero();
    for (Matrix* m : {&zero.Z1, &zero.Z2, &zero.B, &zero.W, &zero.Sigma}) m->setZero();
    return zero;
  }
};

Problem RandomProblem(Index M1, Index M2, Index D, std::uint64_t seed) {
  RandomStream random(seed);
  Problem p;
  const auto theta = [&] {
    Vector t(1 + D);
    for (Index q = 0; q <= D; ++q) t[q] = 0.5 + random.Uniform();
    return t;
  };
  p.theta1 = theta();
  p.theta2 = theta();
  p.Z1 = random.NormalMatrix(M1, D);
  p.Z2 = random.NormalMatrix(M2, D);
  p.a = random.NormalMatrix(M1, 1);
  p.B = random.NormalMatrix(M1, M1);
  p.W = random.NormalMatrix(M1, M2);
  p.mu = random.NormalMatrix(D, 1);
  const Matrix root = random.NormalMatrix(D, D);
  p.Sigma = 0.3 * root * root.transpose();
  return p;
}

double Kernel1(const Vector& theta, const Vector& x, const Vector& z) {
  return theta[0] *
         std::exp(-0.5 * ((x - z).array() / theta.tail(x.size()).array()).square().sum());
}

Vector KernelVector(const Points& points, const Vector& x) {
  Vector k(points.Z.rows());
  for (Index i = 0; i < k.size(); ++i) k[i] = Kernel1(points.theta, x, points.Z.row(i).transpose());
  return k;
}

double Psi1(const Problem& p) {
  return ExpectedSum(Psi1Bumps(p.first(), p.a), {p.mu, p.Sigma}, nullptr);
}
double Psi2(const Problem& p) {
  return ExpectedSum(Psi2Bumps(p.first(), p.B), {p.mu, p.Sigma}, nullptr);
}
double Cross(const Problem& p) {
  return ExpectedSum(CrossPsi2Bumps(p.first(), p.second(), p.W), {p.mu, p.Sigma}, nullptr);
}

void ExpectMatchesQuadrature(const Problem& p, int nodes) {
  const auto expect = [&](const std::function<double(const Vector&)>& f) {
    return ExpectByGaussHermite(p.mu, p.Sigma, nodes, f);
  };
  EXPECT_NEAR(Psi1(p), expect([&](const Vector& x) { return p.a.dot(KernelVector(p.first(), x)); }),
              1e-9);
  EXPECT_NEAR(Psi2(p), expect([&](const Vector& x) {
                const Vector k = KernelVector(p.first(), x);
                return k.dot(p.B * k);
              }),
              1e-9);
  EXPECT_NEAR(Cross(p), expect([&](const Vector& x) {
                return KernelVector(p.first(), x).dot(p.W * KernelVector(p.second(), x));
              }),
              1e-9);
}

TEST(SeArdFull, AgreesWithQuadratureInOneDimension) {
  ExpectMatchesQuadrature(RandomProblem(4, 3, 1, 1), 80);
  ExpectMatchesQuadrature(RandomProblem(1, 1, 1, 2), 80);
}

TEST(SeArdFull, AgreesWithQuadratureInTwoDimensions) {
  ExpectMatchesQuadrature(RandomProblem(4, 3, 2, 3), 80);
  Problem rank_one = RandomProblem(3, 4, 2, 4);
  const Vector direction = Vector::Ones(2);
  rank_one.Sigma = 0.5 * direction * direction.transpose();
  ExpectMatchesQuadrature(rank_one, 80);
}

TEST(SeArdFull, ZeroCovarianceIsThePlainKernel) {
  Problem p = RandomProblem(4, 3, 3, 5);
  p.Sigma.setZero();
  const Vector k1 = KernelVector(p.first(), p.mu);
  const Vector k2 = KernelVector(p.second(), p.mu);
  EXPECT_NEAR(Psi1(p), p.a.dot(k1), 1e-14);
  EXPECT_NEAR(Psi2(p), k1.dot(p.B * k1), 1e-14);
  EXPECT_NEAR(Cross(p), k1.dot(p.W * k2), 1e-14);
}

TEST(SeArdFull, CrossPsi2IsSymmetricInItsFunctions) {
  Problem p = RandomProblem(5, 3, 3, 6);
  const double value = Cross(p);
  std::swap(p.theta1, p.theta2);
  std::swap(p.Z1, p.Z2);
  p.W.transposeInPlace();
  EXPECT_NEAR(Cross(p), value, 1e-14);
}

TEST(SeArdFull, CrossPsi2OfAFunctionWithItselfIsPsi2) {
  Problem p = RandomProblem(20, 20, 2, 7);  // more pairs than fit in one block
  p.theta2 = p.theta1;
  p.Z2 = p.Z1;
  p.W = p.B;
  EXPECT_NEAR(Cross(p), Psi2(p), 1e-12);
}

TEST(SeArdFull, TransformedCoordinatesGiveTheSame) {
  // Equal lengthscales make the kernel isotropic, so turning everything changes nothing.
  Problem p = RandomProblem(4, 3, 2, 8);
  p.theta1.tail(2).setConstant(0.8);
  p.theta2.tail(2).setConstant(1.3);
  const double value = Cross(p);
  Matrix turn(2, 2);
  turn << std::cos(0.7), -std::sin(0.7), std::sin(0.7), std::cos(0.7);
  p.Z1 *= turn.transpose();
  p.Z2 *= turn.transpose();
  p.mu = turn * p.mu;
  p.Sigma = turn * p.Sigma * turn.transpose();
  EXPECT_NEAR(Cross(p), value, 1e-13);
}

TEST(SeArdFull, SlopeIsTheDerivativeInTheMean) {
  Problem p = RandomProblem(5, 1, 3, 9);
  Vector slope;
  ExpectedSum(Psi1Bumps(p.first(), p.a), {p.mu, p.Sigma}, &slope);
  for (Index q = 0; q < 3; ++q) {
    EXPECT_NEAR(slope[q], CentralDifference(&p.mu[q], [&] { return Psi1(p); }), 1e-8);
  }
}

// Compares every entry of `gradient` with central differences of f(p). Entries of Sigma and B come
// in symmetric pairs where the function's gradient is symmetric by definition.
void ExpectGradient(Problem p, const Problem& gradient,
                    const std::function<double(const Problem&)>& f) {
  const auto check = [&](const char* what, auto* at, const auto& actual) {
    ASSERT_EQ(at->size(), actual.size());
    for (Index k = 0; k < at->size(); ++k) {
      const double expected = CentralDifference(at->data() + k, [&] { return f(p); });
      EXPECT_NEAR(actual.data()[k], expected, 1e-7) << what << " entry " << k;
    }
  };
  check("theta1", &p.theta1, gradient.theta1);
  check("theta2", &p.theta2, gradient.theta2);
  check("Z1", &p.Z1, gradient.Z1);
  check("Z2", &p.Z2, gradient.Z2);
  check("a", &p.a, gradient.a);
  check("B", &p.B, gradient.B);
  check("W", &p.W, gradient.W);
  check("mu", &p.mu, gradient.mu);
  EXPECT_EQ(gradient.Sigma, gradient.Sigma.transpose());
  const Matrix Sigma = p.Sigma;
  for (Index q = 0; q < Sigma.rows(); ++q) {
    for (Index r = 0; r <= q; ++r) {
      double step = 0;
      const double expected = CentralDifference(&step, [&] {
        p.Sigma = Sigma;
        p.Sigma(q, r) += step;
        if (r < q) p.Sigma(r, q) += step;
        return f(p);
      });
      const double actual = gradient.Sigma(q, r) * (r < q ? 2 : 1);
      EXPECT_NEAR(actual, expected, 1e-7) << "Sigma " << q << ", " << r;
      p.Sigma = Sigma;
    }
  }
}

TEST(SeArdFull, Psi1GradientMatchesDifferences) {
  const Problem p = RandomProblem(4, 1, 3, 10);
  const Vector h = RandomStream(11).NormalMatrix(3, 1);
  const auto f = [&](const Problem& at) {
    Vector slope;
    const double value = ExpectedSum(Psi1Bumps(at.first(), at.a), {at.mu, at.Sigma}, &slope);
    return 0.7 * value + h.dot(slope);
  };
  Problem g = p.ZeroLike();
  const Bumps bumps = Psi1Bumps(p.first(), p.a);
  Bumps d_bumps = bumps.ZeroLike();
  ExpectedSumBackward(bumps, {p.mu, p.Sigma}, {0.7, &h}, BumpsSums(&d_bumps), {g.mu, g.Sigma});
  Psi1BumpsBackward(p.first(), p.a, d_bumps, {g.theta1, g.Z1}, &g.a);
  ExpectGradient(p, g, f);
}

TEST(SeArdFull, Psi2GradientMatchesDifferences) {
  const Problem p = RandomProblem(4, 1, 2, 12);
  const Bumps bumps = Psi2Bumps(p.first(), p.B);
  Problem g = p.ZeroLike();
  Bumps d_bumps = bumps.ZeroLike();
  ExpectedSumBackward(bumps, {p.mu, p.Sigma}, {1}, BumpsSums(&d_bumps), {g.mu, g.Sigma});
  Psi2BumpsBackward(p.first(), bumps, d_bumps, {g.theta1, g.Z1}, &g.B);
  EXPECT_EQ(g.B, g.B.transpose());
  ExpectGradient(p, g, Psi2);
}

TEST(SeArdFull, CrossPsi2GradientMatchesDifferences) {
  Problem p = RandomProblem(4, 3, 3, 13);
  p.W(1, 2) = 0;  // a pair without weight still has a gradient of its weight
  const Bumps bumps = CrossPsi2Bumps(p.first(), p.second(), p.W);
  Problem g = p.ZeroLike();
  Bumps d_bumps = bumps.ZeroLike();
  ExpectedSumBackward(bumps, {p.mu, p.Sigma}, {1}, BumpsSums(&d_bumps), {g.mu, g.Sigma});
  CrossPsi2BumpsBackward(p.first(), p.second(), bumps, d_bumps,
                         {{g.theta1, g.Z1}, {g.theta2, g.Z2}, g.W});
  ExpectGradient(p, g, Cross);
}

TEST(SeArdFull, AnIndefiniteCovarianceIsRefused) {
  Problem p = RandomProblem(2, 2, 2, 14);
  p.Sigma << 1, 50, 50, 1;
  EXPECT_THROW(Psi1(p), NumericalError);
  p.Sigma.setConstant(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THROW(Psi1(p), NumericalError);
}

TEST(SeArdFull, NotANumberInTheMeanIsNotHidden) {
  Problem p = RandomProblem(9, 2, 2, 15);
  p.mu[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(Psi1(p)));
  EXPECT_TRUE(std::isnan(Psi2(p)));
}

}  // namespace
}  // namespace fathom::se_ard
