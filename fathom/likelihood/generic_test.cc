#include "fathom/likelihood/generic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "fathom/base/error.h"
#include "fathom/distribution/prediction.h"
#include "fathom/likelihood/observed.h"
#include "tests/support/gradient.h"
#include "tests/support/log_z.h"

namespace fathom {
namespace {

using Nodes = GenericOptions::Nodes;
using Values = GenericOptions::Values;

GenericOptions MyPoisson() {
  return {
      .name = "my_poisson",
      .log_density = [](double y, double f) { return y * f - std::exp(f) - std::lgamma(y + 1); },
      .slope = [](double y, double f) { return y - std::exp(f); },
      .values = Values::kCounts};
}

GenericOptions MyGaussian() {
  return {.name = "my_gaussian",
          .log_density = [](double y, double f) { return LogNormalPdf(y, f, 0.5); }};
}

GenericOptions With(GenericOptions options, Nodes nodes, Index count, std::uint64_t seed = 1) {
  options.nodes = nodes;
  options.num_nodes = count;
  options.seed = seed;
  return options;
}

// log Z of the two options' own likelihoods.
double Exact(const std::string& name, double parameter, double alpha, double y, double m,
             double v) {
  double d_m = 0;
  double d_v = 0;
  double d_p = 0;
  return MakeLikelihood(name)->LogZ({Vector{{parameter}}, alpha, 1, &y, &m, &v},
                                    {&d_m, &d_v, &d_p});
}

RowLogZ Call(const GenericOptions& options, double alpha, double y, double m, double v) {
  return RowLogZ(GenericLikelihood(options), alpha, Vector{{y}}, Vector{{m}}, Vector{{v}});
}

TEST(Generic, GaussHermiteMeetsTheAnalyticLikelihood) {
  for (const double alpha : {0.0, 0.5, 1.0}) {
    const GenericOptions gaussian = With(MyGaussian(), Nodes::kGaussHermite, 60);
    EXPECT_NEAR(Call(gaussian, alpha, 1.2, 0.3, 0.4).value,
                Exact("gaussian", 0.5, alpha, 1.2, 0.3, 0.4), 1e-10);
    const GenericOptions poisson = With(MyPoisson(), Nodes::kGaussHermite, 60);
    EXPECT_NEAR(Call(poisson, alpha, 3, 0.3, 0.4).value, Exact("poisson", 1, alpha, 3, 0.3, 0.4),
                1e-10);
  }
}

TEST(Generic, MonteCarloConvergesToTheAnalyticLikelihood) {
  const double exact = Exact("poisson", 1, 1, 3, 0.3, 0.4);
  double previous = 1;
  for (const Index count : {10, 1000, 100000}) {
    double square = 0;  // over seeds; each factor 100 in nodes takes it down by a factor 10
    constexpr int kSeeds = 20;
    for (int seed = 0; seed < kSeeds; ++seed) {
      const double error =
          Call(With(MyPoisson(), Nodes::kMonteCarlo, count, 7 + seed), 1, 3, 0.3, 0.4).value -
          exact;
      square += error * error / kSeeds;
    }
    EXPECT_LT(std::sqrt(square), 0.25 * previous) << count;
    previous = std::sqrt(square);
  }
  EXPECT_LT(previous, 3e-3);
}

TEST(Generic, GradientIsThatOfTheSumEvenWithFewNodes) {
  for (const Nodes nodes : {Nodes::kGaussHermite, Nodes::kMonteCarlo}) {
    GenericOptions options = With(MyPoisson(), nodes, 6);
    for (const bool own_slope : {true, false}) {
      if (!own_slope) options.slope = {};
      for (const double alpha : {0.0, 0.5, 1.0}) {
        const RowLogZ row = Call(options, alpha, 2, 0.3, 0.8);
        const auto value = [&](const Vector& x) {
          return Call(options, alpha, 2, x[0], x[1]).value;
        };
        ExpectGradientMatches(value, Vector{{row.d_m[0], row.d_v[0]}}, Vector{{0.3, 0.8}}, 1e-8);
      }
    }
  }
}

TEST(Generic, NotANumberStaysVisible) {
  for (const double alpha : {0.0, 0.5}) {
    EXPECT_TRUE(std::isnan(Call(MyGaussian(), alpha, 1, NAN, 1).value));
    EXPECT_TRUE(std::isnan(Call(MyGaussian(), alpha, 1, 1, NAN).value));
  }
}

TEST(Generic, PredictsFromTheDensityAlone) {
  const auto observe = [](const GenericOptions& options, double m, double v) {
    Prediction y = Prediction::Gaussian(Moments(Matrix{{m}}, Matrix{{v}}));
    y.observations = {MakeObservation(std::make_shared<GenericLikelihood>(options), Vector(), 1)};
    return y;
  };
  for (const double m : {0.0, -3e4, 2.5}) {
    const Prediction y = observe(With(MyGaussian(), Nodes::kGaussHermite, 60), m, 1.5);
    EXPECT_NEAR(y.Mean()(0, 0), m, 1e-6);
    EXPECT_NEAR(y.Variance()(0, 0), 2, 1e-6);
    EXPECT_NEAR(y.Quantile(0, 0, 0.975), m + std::sqrt(2) * NormalQuantile(0.975), 1e-6);
    EXPECT_NEAR(y.Crps(0, 0, m + 1),
                Prediction::Gaussian(Moments(Matrix{{m}}, Matrix{{2.0}})).Crps(0, 0, m + 1), 1e-6);
  }
  Prediction exact = observe(MyPoisson(), 1.1, 0.2);
  exact.observations = {MakeObservation(MakeLikelihood("poisson"), Vector{{1.0}}, 1)};
  const Prediction counts = observe(MyPoisson(), 1.1, 0.2);
  EXPECT_NEAR(counts.Mean()(0, 0), exact.Mean()(0, 0), 1e-8);
  EXPECT_NEAR(counts.Variance()(0, 0), exact.Variance()(0, 0), 1e-6);
  EXPECT_NEAR(counts.Cdf(0, 0, 2), exact.Cdf(0, 0, 2), 1e-8);
  EXPECT_EQ(counts.Quantile(0, 0, 0.9), exact.Quantile(0, 0, 0.9));
  const GenericOptions exponential = {
      .name = "my_exponential",
      .log_density = [](double y, double f) { return -f - y * std::exp(-f); },
      .values = Values::kPositive};
  const Prediction waiting = observe(exponential, 0.7, 0);
  EXPECT_NEAR(waiting.Mean()(0, 0), std::exp(0.7), 1e-6);
  EXPECT_NEAR(waiting.Quantile(0, 0, 0.5), std::exp(0.7) * std::numbers::ln2, 1e-6);
}

TEST(Generic, RefusesWhatCannotBe) {
  EXPECT_THROW(GenericLikelihood({.name = "x", .log_density = {}}), Error);
  EXPECT_THROW(GenericLikelihood(With(MyGaussian(), Nodes::kMonteCarlo, 0)), Error);
  GenericOptions taken = MyGaussian();
  taken.name = "gaussian";
  EXPECT_THROW(RegisterLikelihood(std::make_shared<GenericLikelihood>(taken)), Error);
  EXPECT_NE(GenericLikelihood(MyPoisson()).TargetRule(1, 1.5), "");
}

TEST(Generic, IsMadeByItsNameOnceRegistered) {
  EXPECT_THROW(MakeLikelihood("my_gaussian"), Error);
  RegisterLikelihood(std::make_shared<GenericLikelihood>(MyGaussian()));
  EXPECT_EQ(MakeLikelihood("my_gaussian")->Name(), "my_gaussian");
}

}  // namespace
}  // namespace fathom
