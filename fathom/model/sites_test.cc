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
    const Conditioned got = Condition(sites, K, c);
    EXPECT_LT(Distance(got.a, expected.a), 1e-11);
    EXPECT_LT(Distance(got.S, expected.S), 1e-11);
    EXPECT_NEAR(got.phi, expected.phi, 1e-11);
    EXPECT_LT(Distance(got.S, got.S.transpose()), 1e-14);
  }
}

// The energy's factor terms with N rows at a power alpha of EP, plus w_a'a + <w_S, S> of the
// cavity, and their gradient.
struct SitesTerms {
  double value = 0;
  Sites d_sites;
  Matrix dK;

  SitesTerms(const Sites& sites, const Matrix& K, double c, const Conditioned& weights) {
    SitesTape tape;
    Conditioned cavity;
    Condition(sites, K, c, &tape, &cavity);
    value = FactorEnergy(sites, &tape) + weights.a.dot(cavity.a) +
            weights.S.cwiseProduct(cavity.S).sum();
    d_sites = Sites::Prior(K.rows());
    SitesBackward(sites, K, cavity, weights, &tape, &d_sites, &dK);
  }
};

Conditioned NoWeights(Index M) {
  Conditioned weights;
  weights.SetZero(M);
  return weights;
}

Conditioned RandomWeights(Index M, RandomStream* stream) {
  return {RandomVector(M, stream), RandomSymmetric(M, stream), 1e9};  // phi must be ignored
}

void ExpectSitesGradient(const Sites& sites, const Matrix& K, double c, const Conditioned& weights,
                         double tolerance) {
  const Index M = K.rows();
  const Index T = M * (M + 1) / 2;
  Vector point(M + 2 * T);
  point << sites.h, LowerTriangle(sites.R), LowerTriangle(K);
  const auto value = [&](const Vector& x) {
    const Sites moved{x.head(M), LowerFrom(x.segment(M, T), M)};
    return SitesTerms(moved, SymmetricFrom(x.tail(T), M), c, weights).value;
  };
  const SitesTerms at(sites, K, c, weights);
  EXPECT_EQ(at.dK, at.dK.transpose());
  Vector gradient(point.size());
  gradient << at.d_sites.h, LowerTriangle(at.d_sites.R), SymmetricSlope(at.dK);
  ExpectGradientMatches(value, gradient, point, tolerance);
}

TEST_P(SitesAtScale, Backward) {
  RandomStream stream(2);
  for (const Index M : {1, 4, 7}) {
    const Matrix K = SpreadGram(M, &stream);
    ExpectSitesGradient(RandomSites(M, &stream), K, GetParam(), RandomWeights(M, &stream), 1e-8);
  }
}

TEST(Sites, PriorHasNothingToSay) {
  RandomStream stream(3);
  const Matrix K = SpreadGram(4, &stream);
  const Conditioned out = Condition(Sites::Prior(4), K, 1);
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
      const Conditioned got = Condition(sites, K, c);
      EXPECT_LT(Distance(got.S, expected_S), 1e-11);
      EXPECT_LT(Distance(got.a, expected_a), 1e-11);
      EXPECT_NEAR(got.phi, expected_phi, 1e-11);
      ExpectSitesGradient(sites, K, c, RandomWeights(M, &stream), 1e-7);
    }
  }
}

TEST(Sites, NegativeKlAgainstTheTextbook) {
  RandomStream stream(5);
  for (const Index M : {1, 5}) {
    const Matrix K = SpreadGram(M, &stream);
    const Sites sites = RandomSites(M, &stream);
    const Matrix V = Inverse(Inverse(K) + SelfProduct(sites.R));
    const double energy = SitesTerms(sites, K, 1, NoWeights(M)).value;
    EXPECT_NEAR(energy, TextbookNegativeKl(K, Apply(V, sites.h), V), 1e-11);
    EXPECT_LT(energy, 0);
  }
}

TEST(Sites, FactorEnergyIsTheDifferenceOfThePhis) {
  RandomStream stream(8);
  for (const double alpha : {0.01, 1.0, 5.0}) {
    const Matrix K = SpreadGram(4, &stream);
    const Sites sites = RandomSites(4, &stream);
    const double k = 5 / alpha;
    const double expected =
        (1 - k) * Condition(sites, K, 1).phi + k * Condition(sites, K, 1 - 1 / k).phi;
    EXPECT_NEAR(SitesTerms(sites, K, 1 - 1 / k, NoWeights(4)).value, expected, 1e-13 * k);
  }
}

TEST(Sites, FactorEnergyBackward) {
  RandomStream stream(6);
  for (const double alpha : {0.0, 0.5, 5.0}) {
    for (const bool coincident : {false, true}) {
      const Index M = 4;
      Matrix Z = 2 * stream.NormalMatrix(M, 2);
      if (coincident) Z.row(3) = Z.row(0);
      ExpectSitesGradient(RandomSites(M, &stream), GramOf(Z), 1 - alpha / 5, NoWeights(M), 1e-8);
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
    const SitesTerms at(sites, K, 1 - alpha / 3, NoWeights(3));
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
  EXPECT_NEAR(SitesTerms(sites, K, 1, NoWeights(3)).value, -27.93703836683838236678, 1e-12);
  EXPECT_NEAR(SitesTerms(sites, K, 1 - 1.0 / 3, NoWeights(3)).d_sites.R(1, 0) * sites.R(1, 0),
              -0.019408761351001057988, 1e-14);
}

// With diagonal K and R all has a closed form. The rows' slopes of S are so large that their part
// is as large as that of the energy, and the two terms of which it is the difference are 1e8 times
// as large.
TEST(Sites, BackwardOfAHugeFactorLosesNoDigits) {
  RandomStream stream(9);
  const Index M = 5;
  const double c = 0.75;
  const Vector k{{1.5, 0.7, 1.1, 0.4, 2.3}};
  const Vector r{{1.1e4, 0.9e4, 1.3e4, 0.8e4, 1.7e4}};
  Conditioned weights = NoWeights(M);
  weights.S = 1e8 * RandomSymmetric(M, &stream);
  const Sites sites{Vector::Zero(M), r.asDiagonal()};
  const SitesTerms at(sites, k.asDiagonal(), c, weights);
  for (Index i = 0; i < M; ++i) {
    const double g = 1 + k[i] * r[i] * r[i];
    const double cavity_g = 1 + c * k[i] * r[i] * r[i];
    for (Index j = 0; j <= i; ++j) {
      const double cavity_g_j = 1 + c * k[j] * r[j] * r[j];
      double expected = 2 * c * weights.S(i, j) / cavity_g * r[j] / cavity_g_j;
      if (i == j) expected -= k[i] * r[i] / g * (1 - 1 / cavity_g);
      EXPECT_NEAR(at.d_sites.R(i, j), expected, 1e-12 * at.d_sites.R.cwiseAbs().maxCoeff());
    }
  }
}

TEST(Sites, NotANumberIsReported) {
  RandomStream stream(7);
  const Matrix K = SpreadGram(3, &stream);
  Sites sites = RandomSites(3, &stream);
  sites.R(1, 0) = std::nan("");
  EXPECT_THROW(Condition(sites, K, 1), NumericalError);
}

}  // namespace
}  // namespace fathom
