#include "fathom/distribution/prediction.h"

#include <gtest/gtest.h>

#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "fathom/base/error.h"
#include "fathom/base/random.h"

namespace fathom {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Component {
  double weight, mean, sd;
};

// One row, one output.
Prediction Mixture(const std::vector<Component>& parts) {
  Prediction prediction;
  prediction.weights.resize(static_cast<Index>(parts.size()));
  for (std::size_t s = 0; s < parts.size(); ++s) {
    prediction.weights[static_cast<Index>(s)] = parts[s].weight;
    prediction.components.emplace_back(Matrix::Constant(1, 1, parts[s].mean),
                                       Matrix::Constant(1, 1, parts[s].sd * parts[s].sd));
  }
  return prediction;
}

const std::vector<Component> kThree = {{0.2, -3, 0.5}, {0.5, 0.1, 1}, {0.3, 4, 0.01}};

TEST(NormalQuantile, MatchesTabulatedValues) {
  // 20-digit values of the inverse normal cdf.
  EXPECT_NEAR(NormalQuantile(0.975), 1.9599639845400542355, 2e-14);
  EXPECT_NEAR(NormalQuantile(0.75), 0.67448975019608174320, 1e-14);
  EXPECT_NEAR(NormalQuantile(1e-10) / -6.3613409024040562047, 1, 1e-14);
  EXPECT_EQ(NormalQuantile(0.5), 0);
  EXPECT_NEAR(NormalQuantile(1e-300) / -37.047096299361199237, 1, 1e-14);
}

TEST(NormalQuantile, InvertsTheCdfInBothTails) {
  for (const double p : {1e-200, 1e-12, 1e-3, 0.2, 0.5 - 1e-9, 0.5 + 1e-9, 0.9, 0.999999}) {
    const double x = NormalQuantile(p);
    // d log p / dx is about |x| in the tail: that much of x's rounding must show up.
    EXPECT_NEAR(NormalCdf(x) / p, 1, 1e-14 * (1 + x * x)) << p;
  }
}

TEST(NormalQuantile, RefusesWhatIsNoProbability) {
  for (const double p : {0.0, 1.0, -0.1, 2.0, std::nan("")}) {
    EXPECT_THROW(NormalQuantile(p), Error) << p;
  }
}

TEST(NormalCdf, KeepsRelativeAccuracyInTheLowerTail) {
  EXPECT_NEAR(NormalCdf(-10) / 7.6198530241605260660e-24, 1, 1e-13);
  EXPECT_EQ(NormalCdf(kInfinity), 1);
  EXPECT_EQ(NormalCdf(-kInfinity), 0);
}

TEST(Prediction, OneComponentAgreesWithTheClosedForms) {
  const Prediction p = Mixture({{1, 2, 3}});
  EXPECT_EQ(p.Mean()(0, 0), 2);
  EXPECT_EQ(p.Variance()(0, 0), 9);
  EXPECT_DOUBLE_EQ(p.Cdf(0, 0, 5), NormalCdf(1));
  EXPECT_DOUBLE_EQ(p.Quantile(0, 0, 0.9), 2 + 3 * NormalQuantile(0.9));
  const double z = (5.0 - 2) / 3;
  const double crps =
      3 * (z * (2 * NormalCdf(z) - 1) + 2 * std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi) -
           1 / std::sqrt(std::numbers::pi));
  EXPECT_NEAR(p.Crps(0, 0, 5), crps, 1e-14);
  Eigen::RowVectorXd y(1);
  y << 5;
  EXPECT_NEAR(p.LogDensity(0, y), -0.5 * std::log(2 * std::numbers::pi * 9) - 0.5 * z * z, 1e-14);
}

TEST(Prediction, MixtureMomentsAreTheLawOfTotalVariance) {
  const Prediction p = Mixture(kThree);
  double mean = 0, second = 0;
  for (const Component& c : kThree) {
    mean += c.weight * c.mean;
    second += c.weight * (c.sd * c.sd + c.mean * c.mean);
  }
  EXPECT_NEAR(p.Mean()(0, 0), mean, 1e-14);
  EXPECT_NEAR(p.Variance()(0, 0), second - mean * mean, 1e-13);
}

TEST(Prediction, VarianceSurvivesAHugeOffset) {
  const Prediction p = Mixture({{0.5, 1e9 - 1, 0.5}, {0.5, 1e9 + 1, 0.5}});
  EXPECT_DOUBLE_EQ(p.Variance()(0, 0), 1.25);
}

TEST(Prediction, CrpsIsTheIntegralOfTheSquaredCdfError) {
  for (const auto& parts : {kThree, std::vector<Component>{{1, 0, 1}}}) {
    const Prediction p = Mixture(parts);
    for (const double y : {-6.0, -1.0, 0.3, 4.0, 9.0}) {
      const auto below = [&](double t) { return std::pow(p.Cdf(0, 0, t), 2); };
      const auto above = [&](double t) { return std::pow(1 - p.Cdf(0, 0, t), 2); };
      using Rule = boost::math::quadrature::gauss_kronrod<double, 61>;
      double integral = 0;
      // Pieces that end where a component is narrow and at y, where the integrand jumps.
      const std::vector<double> knots = {-20, -3, 0, 3.9, 4, 4.1, 30};
      for (std::size_t k = 0; k + 1 < knots.size(); ++k) {
        const double a = knots[k], b = knots[k + 1], c = std::clamp(y, a, b);
        if (c > a) integral += Rule::integrate(below, a, c, 12, 1e-12);
        if (b > c) integral += Rule::integrate(above, c, b, 12, 1e-12);
      }
      EXPECT_NEAR(p.Crps(0, 0, y), integral, 1e-9) << y;
    }
  }
}

// Many components, where the closed form E|X - y| - 1/2 E|X - X'| gives way to quadrature.
TEST(Prediction, CrpsOfManyComponentsIsThatOfTheirPairs) {
  const auto mean_absolute = [](double mean, double var) {
    return mean * std::erf(mean / std::sqrt(2 * var)) +
           std::sqrt(2 * var / std::numbers::pi) * std::exp(-0.5 * mean * mean / var);
  };
  RandomStream stream(12);
  for (const double width : {2.0, 0.3, 0.05}) {
    constexpr Index kComponents = 600;
    std::vector<Component> parts;
    for (Index s = 0; s < kComponents; ++s) {
      const double sd = width * (0.2 + stream.Uniform());
      parts.push_back({1.0 / kComponents, 1e3 + stream.Normal() + (s % 7 == 0 ? 20 : 0), sd});
    }
    const Prediction p = Mixture(parts);
    double spread = 0;
    for (const Component& a : parts) {
      for (const Component& b : parts)
        spread += a.weight * b.weight * mean_absolute(a.mean - b.mean, a.sd * a.sd + b.sd * b.sd);
    }
    for (const double y : {-50.0, 999.0, 1000.5, 1021.0, 4e3}) {
      double to_target = 0;
      for (const Component& a : parts)
        to_target += a.weight * mean_absolute(a.mean - y, a.sd * a.sd);
      EXPECT_NEAR(p.Crps(0, 0, y), to_target - 0.5 * spread, 1e-11) << width << " " << y;
    }
  }
}

TEST(Prediction, QuantileInvertsTheMixtureCdf) {
  const Prediction p = Mixture(kThree);
  double previous = -kInfinity;
  for (const double probability :
       {1e-12, 1e-4, 0.05, 0.2, 0.3, 0.5, 0.69, 0.7, 0.9, 0.999, 1 - 1e-9}) {
    const double q = p.Quantile(0, 0, probability);
    EXPECT_NEAR(p.Cdf(0, 0, q) / probability, 1, 1e-9) << probability;
    EXPECT_GT(q, previous);
    previous = q;
  }
}

TEST(Prediction, QuantileInvertsTheCdfOfRandomMixtures) {
  RandomStream stream(11);
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::vector<Component> parts;
    double total = 0;
    for (int s = 0; s < 6; ++s) {
      parts.push_back({stream.Uniform(), 100 * stream.Normal(), std::exp(2 * stream.Normal())});
      total += parts.back().weight;
    }
    for (Component& part : parts) part.weight /= total;
    const Prediction p = Mixture(parts);
    const double probability = stream.Uniform();
    EXPECT_NEAR(p.Cdf(0, 0, p.Quantile(0, 0, probability)), probability, 1e-10);
  }
}

// One Gaussian at several widths; the last row's floor is above two of them.
TEST(RowQuantile, OfScalesIsThatOfTheMixture) {
  Prediction y;
  y.weights = Eigen::Vector3d(0.6, 0.3, 0.1);
  y.scales = Eigen::Vector3d(0.5, 1, 4);
  const Eigen::Vector3d mean(-3, 0, 1e6), sd(2, 1e-3, 50), floor(0, 0, 60);
  for (Index s = 0; s < 3; ++s)
    y.components.emplace_back(mean, (y.scales[s] * sd).cwiseMax(floor).cwiseAbs2());
  Prediction plain = y;
  plain.scales.resize(0);
  for (const double p : {1e-6, 0.025, 0.5, 0.9}) {
    const RowQuantile quantile(y, p);
    for (Index n = 0; n < 3; ++n) {
      EXPECT_NEAR(quantile(n, 0), plain.Quantile(n, 0, p), 1e-11 * sd[n] + 1e-15 * mean[n]);
      EXPECT_EQ(quantile(n, 0), y.Quantile(n, 0, p));
    }
  }
}

TEST(Prediction, EqualComponentsAreOneGaussian) {
  const Prediction one = Mixture({{1, 2, 3}}), two = Mixture({{0.4, 2, 3}, {0.6, 2, 3}});
  Eigen::RowVectorXd y(1);
  y << -1;
  EXPECT_NEAR(one.LogDensity(0, y), two.LogDensity(0, y), 1e-14);
  EXPECT_NEAR(one.Crps(0, 0, -1), two.Crps(0, 0, -1), 1e-14);
  EXPECT_DOUBLE_EQ(one.Quantile(0, 0, 0.1), two.Quantile(0, 0, 0.1));
}

TEST(Prediction, LogDensityIsTheLogOfTheMeanOfJointDensities) {
  Prediction p;
  p.weights = Eigen::Vector2d(0.25, 0.75);
  Matrix mean(1, 2), var(1, 2);
  mean << 0, 1;
  var << 1, 4;
  p.components.emplace_back(mean, var);
  mean << 5, -2;
  var << 0.5, 2;
  p.components.emplace_back(mean, var);
  Eigen::RowVectorXd y(2);
  y << 1, 0.5;
  double density = 0;
  for (Index s = 0; s < 2; ++s) {
    double product = p.weights[s];
    for (Index d = 0; d < 2; ++d) {
      const double m = p.components[s].mean(0, d), v = p.components[s].var(0, d);
      product *= std::exp(-(y[d] - m) * (y[d] - m) / (2 * v)) / std::sqrt(2 * std::numbers::pi * v);
    }
    density += product;
  }
  EXPECT_NEAR(p.LogDensity(0, y), std::log(density), 1e-13);
  // So far out that both densities underflow: the log must not.
  y << 1e4, 0;
  EXPECT_TRUE(std::isfinite(p.LogDensity(0, y)));
  EXPECT_NEAR(p.LogDensity(0, y) / (-0.5e8), 1, 1e-3);
}

TEST(Prediction, VarianceZeroIsAPointMass) {
  const Prediction p = Mixture({{1, 2, 0}});
  EXPECT_EQ(p.Cdf(0, 0, 1.9), 0);
  EXPECT_EQ(p.Cdf(0, 0, 2), 1);
  EXPECT_EQ(p.Quantile(0, 0, 0.3), 2);
  EXPECT_EQ(p.Crps(0, 0, 5), 3);
  Eigen::RowVectorXd y(1);
  y << 2;
  EXPECT_EQ(p.LogDensity(0, y), kInfinity);
  y << 3;
  EXPECT_EQ(p.LogDensity(0, y), -kInfinity);
}

TEST(Prediction, QuantileOfPointMassesIsOneOfThem) {
  const Prediction masses = Mixture({{0.25, -1, 0}, {0.5, 0.3, 0}, {0.25, 7, 0}});
  EXPECT_EQ(masses.Quantile(0, 0, 0.1), -1);
  EXPECT_EQ(masses.Quantile(0, 0, 0.5), 0.3);
  EXPECT_EQ(masses.Quantile(0, 0, 0.9), 7);
  const Prediction mixed = Mixture({{0.5, 0, 1}, {0.5, 0.4, 0}});
  EXPECT_EQ(mixed.Quantile(0, 0, 0.5), 0.4);  // Phi(0.4)/2 = 0.33 below the jump, 0.83 at it
}

TEST(Prediction, MissedPointMassRulesTheRowOut) {
  Matrix mean(1, 2), var = Matrix::Zero(1, 2);
  mean << 1, 2;
  Eigen::RowVectorXd y(2);
  y << 1, 3;
  EXPECT_EQ(Prediction::Gaussian(Moments(mean, var)).LogDensity(0, y), -kInfinity);
}

}  // namespace
}  // namespace fathom
