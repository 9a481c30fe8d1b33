#include "fathom/model/sparse_gp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "fathom/base/error.h"
#include "tests/support/dense.h"
#include "tests/support/gradient.h"
#include "tests/support/random_model.h"
#include "tests/support/symmetric.h"

namespace fathom {
namespace {

// A GP whose K is well conditioned.
SparseGp SpreadGp(Index M, bool sites, RandomStream* stream) {
  SparseGp gp = RandomGp(M, 2, sites, stream);
  gp.Z *= 3;
  gp.theta.tail(2) *= 0.5;
  return gp;
}

Matrix GramOf(const SparseGp& gp) {
  Matrix K;
  gp.kernel->Gram(gp.theta, gp.Z, &K);
  return K;
}

// Mean and covariance of the pseudo-outputs, by explicit inverses, and those of the cavity.
struct Textbook {
  Vector m;
  Matrix V;
};

Textbook TextbookOf(const SparseGp& gp, const Matrix& K, double scale) {
  if (const auto* sites = std::get_if<Sites>(&gp.posterior)) {
    const Matrix V = Inverse(Inverse(K) + scale * SelfProduct(sites->R));
    return {scale * Apply(V, sites->h), V};
  }
  const auto& q = std::get<Whitened>(gp.posterior);
  const Matrix L = CholeskyFactor(K);
  const Matrix Sigma_inverse = Inverse(SelfProduct(Times(L, q.Delta)));
  const Matrix V = Inverse(scale * Sigma_inverse + (1 - scale) * Inverse(K));
  return {scale * Apply(Times(V, Sigma_inverse, L), q.mu), V};
}

// (is the site form, alpha)
class SparseGpForms : public testing::TestWithParam<std::tuple<bool, double>> {
 protected:
  bool sites() const { return std::get<0>(GetParam()); }
  double alpha() const { return std::get<1>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Forms, SparseGpForms,
                         testing::Combine(testing::Bool(), testing::Values(0.0, 0.5, 1.0)));

TEST_P(SparseGpForms, EnergyAndCavityAgainstTheTextbook) {
  RandomStream stream(1);
  const double N = 7;
  for (const Index M : {1, 5}) {
    const SparseGp gp = SpreadGp(M, sites(), &stream);
    const Matrix K = GramOf(gp);
    PreparedGp prepared;
    Prepare(gp, {alpha(), N}, 0, &prepared);
    EXPECT_EQ(prepared.jitter, 0);
    const Textbook posterior = TextbookOf(gp, K, 1);
    const Textbook cavity = TextbookOf(gp, K, 1 - alpha() / N);
    const Conditioned expected = TextbookConditioned(K, cavity.m, cavity.V);
    EXPECT_LT(Distance(prepared.cavity.a, expected.a), 1e-9);
    EXPECT_LT(Distance(prepared.cavity.S, expected.S), 1e-9);
    const double energy =
        alpha() == 0 ? TextbookNegativeKl(K, posterior.m, posterior.V)
                     : (1 - N / alpha()) * TextbookConditioned(K, posterior.m, posterior.V).phi +
                           N / alpha() * expected.phi;
    EXPECT_NEAR(prepared.energy, energy, 1e-8);
  }
}

TEST_P(SparseGpForms, PrepareBackward) {
  RandomStream stream(2);
  const Index M = 4;
  const Index T = M * (M + 1) / 2;
  const SparseGp gp = SpreadGp(M, sites(), &stream);
  const Cavity cavity{alpha(), 7};
  Conditioned weights;
  weights.a = RandomVector(M, &stream);
  weights.S = RandomSymmetric(M, &stream);
  weights.phi = 1e9;  // must be ignored
  const auto location = [](auto& posterior) -> Vector& {
    return std::holds_alternative<Sites>(posterior) ? std::get<Sites>(posterior).h
                                                    : std::get<Whitened>(posterior).mu;
  };
  const auto factor = [](auto& posterior) -> Matrix& {
    return std::holds_alternative<Sites>(posterior) ? std::get<Sites>(posterior).R
                                                    : std::get<Whitened>(posterior).Delta;
  };
  const auto pack = [&](SparseGp x) {
    Vector out(3 + 2 * M + M + T);
    out << x.theta, Eigen::Map<Vector>(x.Z.data(), 2 * M), location(x.posterior),
        LowerTriangle(factor(x.posterior));
    return out;
  };
  const auto value = [&](const Vector& x) {
    SparseGp moved = gp;
    moved.theta = x.head(3);
    moved.Z = Eigen::Map<const Matrix>(x.data() + 3, M, 2);
    location(moved.posterior) = x.segment(3 + 2 * M, M);
    factor(moved.posterior) = LowerFrom(x.tail(T), M);
    PreparedGp prepared;
    Prepare(moved, cavity, kJitter, &prepared);
    return prepared.energy + weights.a.dot(prepared.cavity.a) +
           weights.S.cwiseProduct(prepared.cavity.S).sum();
  };
  PreparedGp prepared;
  Prepare(gp, cavity, kJitter, &prepared);
  SparseGp d_gp = gp;
  d_gp.SetZero();
  prepared.d_cavity = weights;
  PrepareBackward(gp, cavity, &prepared, &d_gp);
  ExpectGradientMatches(value, pack(d_gp), pack(gp), 1e-7);
}

TEST_P(SparseGpForms, EnergyIsContinuousInAlphaDownToZero) {
  RandomStream stream(3);
  const SparseGp gp = SpreadGp(4, sites(), &stream);
  const auto energy = [&](double at) {
    PreparedGp prepared;
    Prepare(gp, {at, 10}, kJitter, &prepared);
    return prepared.energy;
  };
  const double limit = energy(0);
  EXPECT_NEAR((energy(1e-2) - limit) / (energy(1e-3) - limit), 10, 0.5);
  EXPECT_NEAR(energy(1e-5), limit, 1e-4 * std::abs(limit));
}

TEST(SparseGp, CavityOfNothingRemovedIsThePosterior) {
  RandomStream stream(4);
  for (const bool sites : {false, true}) {
    const SparseGp gp = SpreadGp(5, sites, &stream);
    const Matrix K = GramOf(gp);
    PreparedGp prepared;
    Prepare(gp, Cavity::Posterior(), 0, &prepared);
    const Textbook posterior = TextbookOf(gp, K, 1);
    const Conditioned expected = TextbookConditioned(K, posterior.m, posterior.V);
    EXPECT_LT(Distance(prepared.cavity.a, expected.a), 1e-9);
    EXPECT_LT(Distance(prepared.cavity.S, expected.S), 1e-9);
  }
}

TEST(SparseGp, ConversionsGoThereAndBack) {
  RandomStream stream(5);
  for (const Index M : {1, 5}) {
    const SparseGp gp = SpreadGp(M, true, &stream);
    const auto& sites = std::get<Sites>(gp.posterior);
    const Matrix K = GramOf(gp);
    for (const double jitter : {0.0, 1e-6}) {
      const Sites back = ToSites(ToWhitened(sites, K, jitter), K, jitter);
      EXPECT_LT(Distance(back.h, sites.h), 1e-8);
      EXPECT_LT(Distance(back.R, sites.R), 1e-8);
    }
  }
}

TEST(SparseGp, BothFormsHaveTheSameEnergyAndCavity) {
  RandomStream stream(6);
  SparseGp gp = SpreadGp(5, true, &stream);
  SparseGp same = gp;
  same.posterior = ToWhitened(std::get<Sites>(gp.posterior), GramOf(gp), 0);
  for (const double alpha : {0.0, 0.3, 1.0}) {
    PreparedGp sites;
    PreparedGp whitened;
    Prepare(gp, {alpha, 8}, 0, &sites);
    Prepare(same, {alpha, 8}, 0, &whitened);
    EXPECT_NEAR(sites.energy, whitened.energy, 1e-9);
    EXPECT_LT(Distance(sites.cavity.a, whitened.cavity.a), 1e-9);
    EXPECT_LT(Distance(sites.cavity.S, whitened.cavity.S), 1e-9);
  }
}

TEST(SparseGp, APosteriorWiderThanThePriorHasNoSites) {
  RandomStream stream(7);
  const SparseGp gp = SpreadGp(3, false, &stream);
  Whitened wide = Whitened::Prior(3);
  wide.Delta(1, 1) = 1.5;
  EXPECT_THROW(ToSites(wide, GramOf(gp), 0), NumericalError);
}

TEST(SparseGp, JitterIsRaisedWhereNeededAndReported) {
  RandomStream stream(8);
  SparseGp gp = SpreadGp(4, false, &stream);
  PreparedGp prepared;
  Prepare(gp, {0.5, 10}, kJitter, &prepared);
  EXPECT_EQ(prepared.jitter, kJitter);
  gp.Z.rowwise() = gp.Z.row(0).eval();  // all coincide
  Prepare(gp, {0.5, 10}, 0, &prepared);
  EXPECT_GT(prepared.jitter, 0);
  EXPECT_LE(prepared.jitter, 1e-2);
  EXPECT_TRUE(std::isfinite(prepared.energy) && prepared.cavity.S.allFinite());
}

TEST(SparseGp, JitterCarriesAKernelMatrixOfLowRank) {
  // Five pseudo-inputs in two dimensions under a linear kernel: rank 2; at the origin k(z, z) = 0.
  RandomStream stream(11);
  SparseGp gp = RandomGp(5, 2, false, &stream);
  gp.kernel = MakeKernel("linear_ard");
  gp.theta = RandomPositive(2, 1.2, &stream);
  gp.Z.row(3).setZero();
  PreparedGp prepared;
  Prepare(gp, {0.5, 10}, kJitter, &prepared);
  EXPECT_EQ(prepared.jitter, kJitter);
  // With u known S is K^-1, which must take away the variance of every linear function.
  gp.posterior = Whitened{Vector::Zero(5), 1e-6 * Matrix::Identity(5, 5)};
  Prepare(gp, {0, 10}, kJitter, &prepared);
  const Matrix ZV = gp.Z * gp.theta.asDiagonal();
  EXPECT_LT(Distance(gp.theta.asDiagonal(), TransposedTimes(ZV, Times(prepared.cavity.S, ZV))),
            1e-4);
  // The gradient, with a jitter large enough for differences to be accurate.
  gp.posterior = RandomWhitened(5, &stream);
  const Matrix weights = RandomSymmetric(5, &stream);
  const auto value = [&](const Vector& x) {
    SparseGp moved = gp;
    moved.theta = x.head(2);
    moved.Z = Eigen::Map<const Matrix>(x.data() + 2, 5, 2);
    PreparedGp at;
    Prepare(moved, {0, 10}, 1e-2, &at);
    return 1e-3 * weights.cwiseProduct(at.cavity.S).sum();
  };
  Prepare(gp, {0, 10}, 1e-2, &prepared);
  prepared.d_cavity.SetZero(5);
  prepared.d_cavity.S = 1e-3 * weights;
  SparseGp d_gp = gp;
  d_gp.SetZero();
  PrepareBackward(gp, {0, 10}, &prepared, &d_gp);
  Vector point(12);
  point << gp.theta, Eigen::Map<const Vector>(gp.Z.data(), 10);
  Vector gradient(12);
  gradient << d_gp.theta, Eigen::Map<const Vector>(d_gp.Z.data(), 10);
  ExpectGradientMatches(value, gradient, point, 1e-6);
}

TEST(SparseGp, NoJitterHelpsANumberThatIsNotOne) {
  RandomStream stream(9);
  SparseGp gp = SpreadGp(3, false, &stream);
  gp.Z(1, 1) = std::nan("");
  PreparedGp prepared;
  EXPECT_THROW(Prepare(gp, {0.5, 10}, kJitter, &prepared), NumericalError);
}

TEST(SparseGp, SiteFormNeedsNoJitterForCoincidentPseudoInputs) {
  RandomStream stream(10);
  SparseGp gp = SpreadGp(4, true, &stream);
  gp.Z.rowwise() = gp.Z.row(0).eval();
  PreparedGp prepared;
  for (const double alpha : {0.0, 1.0}) {
    Prepare(gp, {alpha, 10}, kJitter, &prepared);
    EXPECT_EQ(prepared.jitter, 0);
    prepared.d_cavity.SetZero(4);
    SparseGp d_gp = gp;
    d_gp.SetZero();
    PrepareBackward(gp, {alpha, 10}, &prepared, &d_gp);
    EXPECT_TRUE(std::isfinite(prepared.energy) && d_gp.theta.allFinite() && d_gp.Z.allFinite());
    // All four functions values are one number: variance is what moves the energy, not Z.
    EXPECT_LT(d_gp.Z.cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_GT(std::abs(d_gp.theta[0]), 1e-6);
  }
}

}  // namespace
}  // namespace fathom
