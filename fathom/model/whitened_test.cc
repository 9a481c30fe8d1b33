#include "fathom/model/whitened.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"
#include "tests/support/dense.h"
#include "tests/support/gradient.h"
#include "tests/support/random_model.h"
#include "tests/support/symmetric.h"

namespace fathom {
namespace {

Matrix InverseOf(const Matrix& L) {
  Matrix inverse = L;
  InvertLowerInPlace(&inverse);
  return inverse;
}

class WhitenedAtPower : public testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Powers, WhitenedAtPower, testing::Values(0.0, 0.5, 0.98, 1.0));

Conditioned ConditionAt(const Whitened& q, const Matrix& L_inverse, double beta) {
  WhitenedTape tape;
  Conditioned out;
  Condition(q, L_inverse, beta, &tape, &out);
  return out;
}

// The cavity is q(u)^beta p(u)^(1 - beta), normalised.
TEST_P(WhitenedAtPower, AgreesWithExplicitInverses) {
  const double beta = GetParam();
  RandomStream stream(1);
  for (const Index M : {1, 2, 7}) {
    const Matrix L = RandomLower(M, 1, &stream);
    const Whitened q = RandomWhitened(M, &stream);
    const Matrix K = SelfProduct(L);
    const Matrix Sigma_inverse = Inverse(SelfProduct(Times(L, q.Delta)));
    const Matrix V = Inverse(beta * Sigma_inverse + (1 - beta) * Inverse(K));
    const Vector m = beta * Apply(Times(V, Sigma_inverse, L), q.mu);
    const Conditioned expected = TextbookConditioned(K, m, V);
    const Conditioned got = ConditionAt(q, InverseOf(L), beta);
    EXPECT_LT(Distance(got.a, expected.a), 1e-9);
    EXPECT_LT(Distance(got.S, expected.S), 1e-9);
  }
}

TEST_P(WhitenedAtPower, ConditionBackward) {
  const double beta = GetParam();
  RandomStream stream(2);
  for (const Index M : {1, 4}) {
    const Index T = M * (M + 1) / 2;
    const Matrix L = RandomLower(M, 1, &stream);
    const Whitened q = RandomWhitened(M, &stream);
    Conditioned weights;
    weights.a = RandomVector(M, &stream);
    weights.S = RandomSymmetric(M, &stream);
    Vector point(M + 2 * T);
    point << q.mu, LowerTriangle(q.Delta), LowerTriangle(L);
    const auto value = [&](const Vector& x) {
      const Whitened moved{x.head(M), LowerFrom(x.segment(M, T), M)};
      const Conditioned out = ConditionAt(moved, InverseOf(LowerFrom(x.tail(T), M)), beta);
      return weights.a.dot(out.a) + weights.S.cwiseProduct(out.S).sum();
    };
    WhitenedTape tape;
    const Matrix L_inverse = InverseOf(L);
    Conditioned conditioned;
    Condition(q, L_inverse, beta, &tape, &conditioned);
    Whitened d_q{Vector::Zero(M), Matrix::Zero(M, M)};
    Matrix phi_argument = Matrix::Zero(M, M);
    ConditionBackward(q, L_inverse, weights, &tape, &d_q, &phi_argument);
    // phi_argument is L'dL, of which the lower triangle counts; dL = L^-T (that), lower triangle.
    const Matrix dL = TransposedTimes(L_inverse, phi_argument);
    Vector gradient(point.size());
    gradient << d_q.mu, LowerTriangle(d_q.Delta), LowerTriangle(dL);
    ExpectGradientMatches(value, gradient, point, 1e-7);
  }
}

TEST(Whitened, PriorHasNothingToSay) {
  const Index M = 4;
  RandomStream stream(3);
  const Matrix L_inverse = InverseOf(RandomLower(M, 1, &stream));
  for (const double beta : {0.0, 0.7, 1.0}) {
    const Conditioned out = ConditionAt(Whitened::Prior(M), L_inverse, beta);
    EXPECT_LT(out.a.cwiseAbs().maxCoeff(), 1e-14);
    EXPECT_LT(out.S.cwiseAbs().maxCoeff(), 1e-13);
  }
}

TEST(Whitened, CavityOfPowerZeroIsThePrior) {
  RandomStream stream(4);
  const Whitened q = RandomWhitened(5, &stream);
  const Conditioned out = ConditionAt(q, InverseOf(RandomLower(5, 1, &stream)), 0);
  EXPECT_LT(out.a.cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT(out.S.cwiseAbs().maxCoeff(), 1e-10);
}

double FactorEnergyAt(const Whitened& q, double beta) {
  WhitenedTape tape;
  Conditioned out;
  Condition(q, Matrix::Identity(q.mu.size(), q.mu.size()), beta, &tape, &out);
  return FactorEnergy(q, tape);
}

TEST(Whitened, FactorEnergyAgainstTheTextbook) {
  RandomStream stream(5);
  for (const double beta : {0.0, 0.5, 0.99}) {
    for (const Index M : {1, 6}) {
      const Whitened q = RandomWhitened(M, &stream);
      const Matrix I = Matrix::Identity(M, M);
      const Matrix Sigma = SelfProduct(q.Delta);
      const Matrix V = Inverse(beta * Inverse(Sigma) + (1 - beta) * I);
      const Vector m = beta * Apply(Times(V, Inverse(Sigma)), q.mu);
      const double posterior = TextbookConditioned(I, q.mu, Sigma).phi;
      const double cavity = TextbookConditioned(I, m, V).phi;
      const double k = 1 / (1 - beta);
      EXPECT_NEAR(FactorEnergyAt(q, beta), (1 - k) * posterior + k * cavity, 1e-8);
    }
  }
}

TEST(Whitened, FactorEnergyIsSmoothWhereDeltaIsIllConditioned) {
  // |Delta^-1 mu|^2 is about 1e60 here; the energy is a mild function of mu all the same.
  const Index M = 30;
  Whitened q{Vector::Ones(M), 0.02 * Matrix::Identity(M, M)};
  q.Delta.triangularView<Eigen::StrictlyLower>().setConstant(1);
  const double before = FactorEnergyAt(q, 1 - 1e-5);
  q.mu *= 1.001;
  const double after = FactorEnergyAt(q, 1 - 1e-5);
  EXPECT_NEAR(after - before, -0.5 * M * (1.001 * 1.001 - 1), 1e-3);
}

// Compares a function of (mu, Delta) with its gradient.
template <typename Value, typename Backward>
void ExpectOwnGradient(const Whitened& q, Value value, Backward backward) {
  const Index M = q.mu.size();
  const Index T = M * (M + 1) / 2;
  Vector point(M + T);
  point << q.mu, LowerTriangle(q.Delta);
  Whitened d_q{Vector::Zero(M), Matrix::Zero(M, M)};
  backward(&d_q);
  Vector gradient(M + T);
  gradient << d_q.mu, LowerTriangle(d_q.Delta);
  EXPECT_EQ(Matrix(d_q.Delta.triangularView<Eigen::Lower>()), d_q.Delta);
  ExpectGradientMatches(
      [&](const Vector& x) {
        return value(Whitened{x.head(M), LowerFrom(x.tail(T), M)});
      },
      gradient, point, 1e-8);
}

TEST(Whitened, FactorEnergyBackward) {
  RandomStream stream(6);
  for (const double beta : {0.0, 0.5, 0.99}) {
    const Whitened q = RandomWhitened(4, &stream);
    ExpectOwnGradient(
        q, [&](const Whitened& x) { return FactorEnergyAt(x, beta); },
        [&](Whitened* d_q) {
          WhitenedTape tape;
          Conditioned out;
          Condition(q, Matrix::Identity(4, 4), beta, &tape, &out);
          FactorEnergyBackward(q, &tape, d_q);
        });
  }
}

TEST(Whitened, NegativeKlAgainstTheTextbook) {
  RandomStream stream(7);
  for (const Index M : {1, 5}) {
    const Whitened q = RandomWhitened(M, &stream);
    const double expected = TextbookNegativeKl(Matrix::Identity(M, M), q.mu, SelfProduct(q.Delta));
    EXPECT_NEAR(NegativeKl(q), expected, 1e-11);
  }
  EXPECT_EQ(NegativeKl(Whitened::Prior(3)), 0);
}

TEST(Whitened, NegativeKlBackward) {
  RandomStream stream(8);
  const Whitened q = RandomWhitened(4, &stream);
  ExpectOwnGradient(
      q, [](const Whitened& x) { return NegativeKl(x); },
      [&](Whitened* d_q) { NegativeKlBackward(q, d_q); });
}

TEST(Whitened, NotANumberIsReported) {
  RandomStream stream(9);
  Whitened q = RandomWhitened(3, &stream);
  q.Delta(2, 1) = std::nan("");
  EXPECT_THROW(ConditionAt(q, Matrix::Identity(3, 3), 0.5), NumericalError);
}

}  // namespace
}  // namespace fathom
