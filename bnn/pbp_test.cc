#include "bnn/pbp.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/distribution/prediction.h"
#include "tests/support/gradient.h"

namespace fathom::bnn {
namespace {

const auto kAlways = [] { return true; };

ReluTape ReluOf(double m, double v) {
  ReluTape tape;
  tape.in = Moments(Matrix::Constant(1, 1, m), Matrix::Constant(1, 1, v));
  ReluMoments(&tape);
  return tape;
}

TEST(PbpNetwork, ReluMomentsAgainstASumOverTheDensity) {
  for (const double m : {-3.0, -0.4, 0.0, 0.7, 5.0}) {
    for (const double v : {0.01, 1.0, 6.0}) {
      const ReluTape tape = ReluOf(m, v);
      double mean = 0;
      double square = 0;
      constexpr int kSteps = 200000;
      const double end = std::max(0.0, m) + 12 * std::sqrt(v);
      for (int i = 0; i < kSteps; ++i) {
        const double a = end * (i + 0.5) / kSteps;
        const double weight = std::exp(LogNormalPdf(a, m, v)) * end / kSteps;
        mean += weight * a;
        square += weight * a * a;
      }
      EXPECT_NEAR(tape.out.mean(0, 0), mean, 1e-8) << m << " " << v;
      EXPECT_NEAR(tape.out.var(0, 0), square - mean * mean, 1e-7) << m << " " << v;
    }
  }
}

TEST(PbpNetwork, ReluOfACertainInputIsTheReluItself) {
  for (const double v : {0.0, 1e-300}) {
    EXPECT_EQ(ReluOf(1.5, v).out.mean(0, 0), 1.5);
    EXPECT_EQ(ReluOf(-1.5, v).out.mean(0, 0), 0);
    EXPECT_LT(ReluOf(1.5, v).out.var(0, 0), 1e-299);
  }
  const ReluTape kink = ReluOf(0, 0);
  EXPECT_EQ(kink.out.mean(0, 0), 0);
  EXPECT_EQ(kink.out.var(0, 0), 0);
}

TEST(PbpNetwork, GradientMatchesDifferences) {
  RandomStream stream(5);
  const MlpShape shape(3, {4, 2}, Activation::kRelu);
  const Vector ones = Vector::Ones(shape.num_weights());
  const GaussianWeights weights{DrawWeights(ones, &stream),
                                DrawWeights(ones, &stream).cwiseAbs2() + 0.1 * ones};
  Moments x = Moments::Certain(stream.NormalMatrix(1, 3));
  x.var.setConstant(0.2);  // inputs that are not known exactly
  const double y = 0.7;
  PbpTape tape;
  const auto log_z = [&](const Vector& at) {
    const GaussianWeights here{at.head(ones.size()), at.tail(ones.size())};
    PbpForward(shape, here, x, &tape);
    return GaussianEvidence(y, tape.f.mean(0, 0), tape.f.var(0, 0) + 0.3).log_z;
  };
  Vector at(2 * ones.size());
  at << weights.M, weights.V;
  log_z(at);
  const GaussianEvidence evidence(y, tape.f.mean(0, 0), tape.f.var(0, 0) + 0.3);
  GaussianWeights gradient;
  PbpBackward(
      shape, weights, tape,
      Moments(Matrix::Constant(1, 1, evidence.d_mean), Matrix::Constant(1, 1, evidence.d_var)),
      &gradient);
  Vector both(at.size());
  both << gradient.M, gradient.V;
  ExpectGradientMatches(log_z, both, at, 1e-7, nullptr, 1e-4);
}

// Without a hidden layer the posterior after one row is that of conjugate linear regression, whose
// means and variances ADF keeps.
TEST(Pbp, OneRowOfALinearNetworkIsConjugateRegression) {
  const MlpShape shape(2, {}, Activation::kRelu);
  PbpState state = PbpState::Start((Vector(3) << 0.2, -0.4, 0.1).finished());
  state.weights.V << 0.5, 1.0, 2.0;
  const Vector x = (Vector(3) << 1.3, -0.7, 1).finished() / std::sqrt(3);
  const double s2 = state.noise.Variance();
  const Matrix V = state.weights.V.asDiagonal();
  const double total = x.dot(V * x) + s2;
  const Vector gain = V * x / total;
  const Vector mean = state.weights.M + gain * (0.9 - x.dot(state.weights.M));
  const Matrix covariance = V - gain * gain.transpose() * total;
  PbpScratch scratch;
  PbpUpdate(shape, Moments::Certain(Matrix{{1.3, -0.7}}), 0.9, &scratch, &state);
  EXPECT_LT((state.weights.M - mean).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_LT((state.weights.V - covariance.diagonal()).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(Pbp, GammaKeepsTheMomentsOfTheTiltedPrecision) {
  // Z_k ~ the evidence with the shape raised by k: E[precision] after the update is Z_1/Z_0 a/b.
  GammaBelief belief{7, 3};
  const auto Z = [&](double k) { return std::exp(LogNormalPdf(0.8, 0, 0.4 + 3 / (7.0 - 1 + k))); };
  const double first = Z(1) / Z(0) * 7 / 3;
  const double second = Z(2) / Z(0) * 7 * 8 / 9;
  ASSERT_TRUE(UpdateGamma(0.64, 0.4, &belief));
  EXPECT_NEAR(belief.shape / belief.rate, first, 1e-12);
  EXPECT_NEAR(belief.shape * (belief.shape + 1) / belief.rate / belief.rate, second, 1e-11);
}

TEST(Pbp, AGammaThatWouldBeNoneIsRefused) {
  GammaBelief belief{1.2, 1e-3};
  const GammaBelief before = belief;
  EXPECT_FALSE(UpdateGamma(1e30, 1e-12, &belief));
  EXPECT_EQ(belief.shape, before.shape);
  EXPECT_EQ(belief.rate, before.rate);
}

TEST(Pbp, LearnsALineAndItsNoise) {
  RandomStream stream(1);
  const MlpShape shape(1, {10}, Activation::kRelu);
  const Moments x = Moments::Certain(stream.NormalMatrix(200, 1));
  Vector y(200);
  for (Index n = 0; n < 200; ++n) y[n] = 0.9 * x.mean(n, 0) + 0.2 * stream.Normal();
  PbpState state = PbpState::Start(shape, &stream);
  for (int epoch = 0; epoch < 10; ++epoch) {
    PbpPass(shape, x, y, stream.Permutation(200), kAlways, &state);
    RefinePrior(&state);
  }
  EXPECT_NEAR(std::sqrt(state.noise.Variance()), 0.2, 0.03);
  const Moments at = PbpPredict(shape, state, Moments::Certain(Matrix{{1.0}, {-1.0}}));
  EXPECT_NEAR(at.mean(0, 0), 0.9, 0.1);
  EXPECT_NEAR(at.mean(1, 0), -0.9, 0.1);
  EXPECT_EQ(state.refused_weights + state.refused_gammas, 0);
}

TEST(Pbp, APassEndsWhereItIsTold) {
  RandomStream stream(1);
  const MlpShape shape(1, {2}, Activation::kRelu);
  const Moments x = Moments::Certain(stream.NormalMatrix(5, 1));
  PbpState state = PbpState::Start(shape, &stream);
  int rows = 0;
  EXPECT_FALSE(PbpPass(
      shape, x, Vector::Ones(5), stream.Permutation(5), [&] { return ++rows < 3; }, &state));
  EXPECT_EQ(rows, 3);
}

}  // namespace
}  // namespace fathom::bnn
