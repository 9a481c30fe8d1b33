#include "fathom/model/sites.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"
#include "tests/support/gradient.h"
#include "tests/support/random_model.h"
#include "tests/support/symmetric.h"

namespace fathom {
namespace {

Matrix GramOf(const Matrix& Z, double lengthscale = 1.2) {
  Matrix K;
  MakeKernel("se_ard")->Gram(
      (Vector(1 + Z.cols()) << 1.3, Vector::Constant(Z.cols(), lengthscale)).finished(), Z, &K);
  return K;
}

// Well conditioned.
Matrix SpreadGram(Index M, RandomStream* stream) {
  Matrix K = GramOf(3 * stream->NormalMatrix(M, 2));
  K.diagonal().array() += 0.2;
  return K;
}

class SitesAtScale : public testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Scales, SitesAtScale, testing::Values(0.0, 0.4, 0.99, 1.0));

TEST_P(SitesAtScale, AgreeWithExplicitInverses) {
  const double c = GetParam();
  RandomStream stream(1);
  for (const Index M : {1, 2, 7}) {
    const Matrix K = SpreadGram(M, &stream);
    const Sites sites = RandomSites(M, &stream);
    const Matrix T = sites.R * sites.R.transpose();
    const Matrix V = (K.inverse() + c * T).inverse();
    const Vector m = V * (c * sites.h);
    const Conditioned expected = TextbookConditioned(K, m, V);
    const Conditioned got = Condition(sites, K, c, nullptr);
    EXPECT_LT((got.a - expected.a).cwiseAbs().maxCoeff(), 1e-11);
    EXPECT_LT((got.S - expected.S).cwiseAbs().maxCoeff(), 1e-11);
    EXPECT_NEAR(got.phi, expected.phi, 1e-11);
    EXPECT_LT((got.S - got.S.transpose()).cwiseAbs().maxCoeff(), 1e-14);
  }
}

// F = w_phi phi + w_a'a + <w_S, S> as a function of h, R and K.
void ExpectConditionGradient(const Sites& sites, const Matrix& K, double c, double tolerance,
                             RandomStream* stream) {
  const Index M = K.rows();
  const Index T = M * (M + 1) / 2;
  Conditioned weights;
  weights.a = RandomVector(M, stream);
  weights.S = RandomSymmetric(M, stream);
  weights.phi = 0.7;
  Vector point(M + 2 * T);
  point << sites.h, LowerTriangle(sites.R), LowerTriangle(K);
  const auto value = [&](const Vector& x) {
    const Sites moved{x.head(M), LowerFrom(x.segment(M, T), M)};
    const Conditioned out = Condition(moved, SymmetricFrom(x.tail(T), M), c, nullptr);
    return weights.phi * out.phi + weights.a.dot(out.a) + weights.S.cwiseProduct(out.S).sum();
  };
  SitesTape tape;
  const Conditioned out = Condition(sites, K, c, &tape);
  Sites d_sites = Sites::Prior(M);
  Matrix dK = Matrix::Zero(M, M);
  ConditionBackward(sites, K, out, tape, weights, &d_sites, &dK);
  EXPECT_LT((dK - dK.transpose()).cwiseAbs().maxCoeff(), 1e-12);
  Vector gradient(point.size());
  gradient << d_sites.h, LowerTriangle(d_sites.R), SymmetricSlope(dK);
  ExpectGradientMatches(value, gradient, point, tolerance);
}

TEST_P(SitesAtScale, ConditionBackward) {
  RandomStream stream(2);
  for (const Index M : {1, 4}) {
    ExpectConditionGradient(RandomSites(M, &stream), SpreadGram(M, &stream), GetParam(), 1e-8,
                            &stream);
  }
}

TEST(Sites, PriorHasNothingToSay) {
  RandomStream stream(3);
  const Matrix K = SpreadGram(4, &stream);
  const Conditioned out = Condition(Sites::Prior(4), K, 1, nullptr);
  EXPECT_EQ(out.a, Vector::Zero(4));
  EXPECT_EQ(out.S, Matrix::Zero(4, 4));
  EXPECT_EQ(out.phi, 0);
}

// K of condition 1e16 and worse, up to pseudo-inputs that coincide: what needs no inverse of K is
// still exact. The textbook side here inverts K + (cT)^-1 instead, which is well conditioned.
TEST(Sites, AccurateForSingularKernelMatrices) {
  RandomStream stream(4);
  for (const double lengthscale : {1.0, 30.0, 3000.0}) {
    for (const bool coincident : {false, true}) {
      const Index M = 6;
      Matrix Z = stream.NormalMatrix(M, 2);
      if (coincident) {
        Z.row(3) = Z.row(0);
        Z.row(5) = Z.row(1);
      }
      const Matrix K = GramOf(Z, lengthscale);
      const Sites sites = RandomSites(M, &stream);
      const double c = 0.9;
      const Matrix T = sites.R * sites.R.transpose();
      const Matrix expected_S = (K + (c * T).inverse()).inverse();
      const Vector expected_a = c * (sites.h - expected_S * (K * sites.h));
      const Matrix I_TK = Matrix::Identity(M, M) + c * T * K;
      const double expected_phi =
          -0.5 * std::log(I_TK.determinant()) + 0.5 * c * sites.h.dot(K * expected_a);
      const Conditioned got = Condition(sites, K, c, nullptr);
      EXPECT_LT((got.S - expected_S).cwiseAbs().maxCoeff(), 1e-11);
      EXPECT_LT((got.a - expected_a).cwiseAbs().maxCoeff(), 1e-11);
      EXPECT_NEAR(got.phi, expected_phi, 1e-11);
      ExpectConditionGradient(sites, K, c, 1e-7, &stream);
    }
  }
}

TEST(Sites, NegativeKlAgainstTheTextbook) {
  RandomStream stream(5);
  for (const Index M : {1, 5}) {
    const Matrix K = SpreadGram(M, &stream);
    const Sites sites = RandomSites(M, &stream);
    const Matrix V = (K.inverse() + sites.R * sites.R.transpose()).inverse();
    SitesTape tape;
    const Conditioned posterior = Condition(sites, K, 1, &tape);
    EXPECT_NEAR(NegativeKl(K, posterior, tape), TextbookNegativeKl(K, V * sites.h, V), 1e-11);
    EXPECT_LT(NegativeKl(K, posterior, tape), 0);
  }
}

TEST(Sites, NegativeKlBackward) {
  RandomStream stream(6);
  const Index M = 4;
  const Index T = M * (M + 1) / 2;
  const Matrix K = SpreadGram(M, &stream);
  const Sites sites = RandomSites(M, &stream);
  const auto value = [&](const Vector& x) {
    const Sites moved{x.head(M), LowerFrom(x.segment(M, T), M)};
    const Matrix moved_K = SymmetricFrom(x.tail(T), M);
    SitesTape tape;
    const Conditioned posterior = Condition(moved, moved_K, 1, &tape);
    return NegativeKl(moved_K, posterior, tape);
  };
  Vector point(M + 2 * T);
  point << sites.h, LowerTriangle(sites.R), LowerTriangle(K);
  SitesTape tape;
  const Conditioned posterior = Condition(sites, K, 1, &tape);
  Conditioned d_posterior;
  d_posterior.SetZero(M);
  Sites d_sites = Sites::Prior(M);
  Matrix dK = Matrix::Zero(M, M);
  NegativeKlBackward(sites, K, posterior, tape, &d_posterior, &d_sites, &dK);
  ConditionBackward(sites, K, posterior, tape, d_posterior, &d_sites, &dK);
  Vector gradient(point.size());
  gradient << d_sites.h, LowerTriangle(d_sites.R), SymmetricSlope(dK);
  ExpectGradientMatches(value, gradient, point, 1e-8);
}

TEST(Sites, NotANumberIsReported) {
  RandomStream stream(7);
  const Matrix K = SpreadGram(3, &stream);
  Sites sites = RandomSites(3, &stream);
  sites.R(1, 0) = std::nan("");
  EXPECT_THROW(Condition(sites, K, 1, nullptr), NumericalError);
}

}  // namespace
}  // namespace fathom
