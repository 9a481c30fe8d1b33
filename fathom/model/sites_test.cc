#include "fathom/model/sites.h"

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
    const Matrix V = Inverse(Inverse(K) + c * SelfProduct(sites.R));
    const Vector m = c * Apply(V, sites.h);
    const Conditioned expected = TextbookConditioned(K, m, V);
    const Conditioned got = Condition(sites, K, c, nullptr);
    EXPECT_LT(Distance(got.a, expected.a), 1e-11);
    EXPECT_LT(Distance(got.S, expected.S), 1e-11);
    EXPECT_NEAR(got.phi, expected.phi, 1e-11);
    EXPECT_LT(Distance(got.S, got.S.transpose()), 1e-14);
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
  ConditionBackward(sites, K, {out, tape}, weights, &d_sites, &dK);
  EXPECT_LT(Distance(dK, dK.transpose()), 1e-12);
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
      const Matrix T = c * SelfProduct(sites.R);
      const Matrix expected_S = Inverse(K + Inverse(T));
      const Vector expected_a = c * (sites.h - Apply(expected_S, Apply(K, sites.h)));
      const Matrix I_TK = Matrix::Identity(M, M) + Times(T, K);
      const double expected_phi =
          -0.5 * std::log(Determinant(I_TK)) + 0.5 * c * sites.h.dot(Apply(K, expected_a));
      const Conditioned got = Condition(sites, K, c, nullptr);
      EXPECT_LT(Distance(got.S, expected_S), 1e-11);
      EXPECT_LT(Distance(got.a, expected_a), 1e-11);
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
    const Matrix V = Inverse(Inverse(K) + SelfProduct(sites.R));
    SitesTape tape;
    const Conditioned posterior = Condition(sites, K, 1, &tape);
    EXPECT_NEAR(NegativeKl(K, {posterior, tape}), TextbookNegativeKl(K, Apply(V, sites.h), V),
                1e-11);
    EXPECT_LT(NegativeKl(K, {posterior, tape}), 0);
  }
}

// The energy's factor terms at a power alpha of EP with N rows, and their gradient.
struct FactorTerms {
  double value = 0;
  Sites d_sites;
  Matrix dK;

  FactorTerms(const Sites& sites, const Matrix& K, double alpha, double N) {
    SitesTape tape;
    SitesTape cavity_tape;
    const Conditioned posterior = Condition(sites, K, 1, &tape);
    const Conditioned cavity = Condition(sites, K, 1 - alpha / N, &cavity_tape);
    const SitesAt at_posterior{posterior, tape};
    const SitesAt at_cavity{cavity, cavity_tape};
    value = alpha == 0 ? NegativeKl(K, at_posterior) : FactorEnergy(K, at_posterior, at_cavity);
    d_sites = Sites::Prior(K.rows());
    dK = Matrix::Zero(K.rows(), K.rows());
    FactorEnergyBackward(sites, K, at_posterior, at_cavity, &d_sites, &dK);
  }
};

TEST(Sites, FactorEnergyIsTheDifferenceOfThePhis) {
  RandomStream stream(8);
  for (const double alpha : {0.01, 1.0, 5.0}) {
    const Matrix K = SpreadGram(4, &stream);
    const Sites sites = RandomSites(4, &stream);
    const double k = 5 / alpha;
    const double expected = (1 - k) * Condition(sites, K, 1, nullptr).phi +
                            k * Condition(sites, K, 1 - 1 / k, nullptr).phi;
    EXPECT_NEAR(FactorTerms(sites, K, alpha, 5).value, expected, 1e-13 * k);
  }
}

TEST(Sites, FactorEnergyBackward) {
  RandomStream stream(6);
  for (const double alpha : {0.0, 0.5, 5.0}) {
    for (const bool coincident : {false, true}) {
      const Index M = 4;
      const Index T = M * (M + 1) / 2;
      Matrix Z = 2 * stream.NormalMatrix(M, 2);
      if (coincident) Z.row(3) = Z.row(0);
      const Matrix K = GramOf(Z);
      const Sites sites = RandomSites(M, &stream);
      const auto value = [&](const Vector& x) {
        const Sites moved{x.head(M), LowerFrom(x.segment(M, T), M)};
        return FactorTerms(moved, SymmetricFrom(x.tail(T), M), alpha, 5).value;
      };
      Vector point(M + 2 * T);
      point << sites.h, LowerTriangle(sites.R), LowerTriangle(K);
      const FactorTerms at(sites, K, alpha, 5);
      EXPECT_LT(Distance(at.dK, at.dK.transpose()), 1e-12);
      Vector gradient(point.size());
      gradient << at.d_sites.h, LowerTriangle(at.d_sites.R), SymmetricSlope(at.dK);
      ExpectGradientMatches(value, gradient, point, 1e-8);
    }
  }
}

// A factor of 1e8 and more: the phis are 1e8 and their difference is 27. The numbers were computed
// from explicit inverses with 60 digits (mpmath); slopes are with respect to logarithms.
TEST(Sites, FactorEnergyOfAHugeFactorLosesNoDigits) {
  const Matrix K{{1.5, 0.5, 0.25}, {0.5, 1.25, -0.25}, {0.25, -0.25, 1}};
  const Sites sites{Vector{{12e7, -6e7, 3e7}},
                    Matrix{{16384, 0, 0}, {1024, 16384, 0}, {-2048, 512, 16384}}};
  const auto expect = [&](double alpha, double value, const Vector& d_log_h, double d_log_R,
                          double d_log_K) {
    SCOPED_TRACE(alpha);
    const FactorTerms at(sites, K, alpha, 3);
    EXPECT_NEAR(at.value, value, 1e-12);
    EXPECT_LT((at.d_sites.h.cwiseProduct(sites.h) - d_log_h).cwiseAbs().maxCoeff(), 1e-14);
    EXPECT_NEAR(at.d_sites.R.cwiseProduct(sites.R).sum(), d_log_R, 1e-13);
    EXPECT_NEAR(at.dK.cwiseProduct(K).sum(), d_log_K, 1e-13);
  };
  expect(1, -27.61244538279876956612,
         Vector{{-0.22065896577292677683, -0.095800683783476766606, -0.0035006074276525517035}},
         -2.3600794615606186411, -1.3400198592723373681);
  expect(0.5, -27.79614435667164149872,
         Vector{{-0.22065896607472170686, -0.095800683948951262038, -0.0035006074053214316451}},
         -2.3600794636072943107, -1.3400198605181443556);
  EXPECT_NEAR(FactorTerms(sites, K, 0, 3).value, -27.93703836683838236678, 1e-12);
  EXPECT_NEAR(FactorTerms(sites, K, 1, 3).d_sites.R(1, 0) * sites.R(1, 0), -0.019408761351001057988,
              1e-14);
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
