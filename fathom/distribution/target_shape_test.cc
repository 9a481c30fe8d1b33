#include "fathom/distribution/target_shape.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/error.h"

namespace fathom {
namespace {

constexpr double kBoundless = std::numeric_limits<double>::infinity();

const Warp kLog{Warp::Kind::kLog, 0.5, 0.1, 30};
const Warp kLogit{Warp::Kind::kLogit, 0.01, 0, 1};

// Two widths around one centre.
Prediction Latent(double mean, double sd) {
  Prediction z =
      Prediction::Gaussian(Moments(Matrix::Constant(1, 1, mean), Matrix::Constant(1, 1, sd * sd)));
  z.components.emplace_back(Matrix::Constant(1, 1, mean), Matrix::Constant(1, 1, 9 * sd * sd));
  z.weights = Eigen::Vector2d(0.8, 0.2);
  return z;
}

double Density(const Prediction& y, double at) {
  return std::exp(y.LogDensity(0, Matrix::Constant(1, 1, at).row(0)));
}

TEST(Warp, RisesAndComesBack) {
  for (const Warp& warp : {Warp{}, kLog, kLogit}) {
    double before = -kBoundless;
    for (double y = -3; y < 40; y += 0.0937) {
      const double z = warp.Forward(y);
      EXPECT_GT(z, before);
      before = z;
      EXPECT_NEAR(InverseWarp(warp)(z), y, 1e-10 * (1 + std::abs(y)));
      constexpr double kStep = 1e-6;
      const double slope = (warp.Forward(y + kStep) - warp.Forward(y - kStep)) / (2 * kStep);
      EXPECT_NEAR(std::exp(warp.LogSlope(y)), slope, 1e-4 * slope);
    }
  }
}

// Of a continuous y: density, cdf, quantiles, moments and CRPS tell the same story.
TEST(TargetShape, IsOneDistribution) {
  TargetShape with_value{.warp = kLog};
  with_value.has_value = true;
  with_value.value_width = 1e-3;
  for (const TargetShape& shape : {TargetShape{.warp = kLog}, TargetShape{.warp = kLogit},
                                   with_value, TargetShape{.warp = kLog, .gap = 2}}) {
    const double share = shape.has_value ? 0.4 : 0;
    const Prediction y =
        Shaped(shape, Latent(-0.3, 0.5), shape.has_share() ? Vector::Constant(1, 0.4) : Vector());
    constexpr double kFrom = -20, kTo = 150, kStep = 1e-3;
    double mass = share, mean = share * shape.value, square = share * shape.value * shape.value;
    double crps = 0;
    constexpr double kTarget = 0.7;
    for (double t = kFrom + 0.5 * kStep; t < kTo; t += kStep) {
      const double density = shape.IsValue(t) ? 0 : Density(y, t);
      mass += kStep * density;
      mean += kStep * density * t;
      square += kStep * density * t * t;
      crps += kStep * std::pow(y.Cdf(0, 0, t) - (t >= kTarget ? 1 : 0), 2);
      if (std::abs(t - 2) < kStep / 2) {
        EXPECT_NEAR(y.Cdf(0, 0, t), mass - 0.5 * kStep * density, 5e-3);
      }
    }
    EXPECT_NEAR(mass, 1, 5e-3);
    EXPECT_NEAR(y.Mean()(0, 0), mean, 0.01 * std::abs(mean));
    EXPECT_NEAR(y.Variance()(0, 0), square - mean * mean, 0.03 * (square - mean * mean));
    EXPECT_NEAR(y.Crps(0, 0, kTarget), crps, 2e-3);
    for (const double p : {0.025, 0.3, 0.45, 0.5, 0.9, 0.975}) {
      const double q = y.Quantile(0, 0, p);
      EXPECT_GE(y.Cdf(0, 0, q + 1e-8), p);
      EXPECT_LE(y.Cdf(0, 0, q - 1e-8), p);
    }
  }
}

// Two humps of one width each are a mixture of Gaussians.
TEST(TargetShape, TwoHumpsAreGaussiansSideBySide) {
  const double share = 0.3, gap = 4;
  const Prediction y = Shaped({.gap = gap}, Latent(1, 0.3), Vector::Constant(1, share));
  Prediction same = Latent(1, 0.3);
  for (const Moments& lower : std::vector<Moments>(same.components))
    same.components.emplace_back(lower.mean.array() + gap, lower.var);
  same.weights = (Vector(4) << 0.7 * 0.8, 0.7 * 0.2, 0.3 * 0.8, 0.3 * 0.2).finished();
  EXPECT_NEAR(y.Mean()(0, 0), 1 + share * gap, 1e-12);
  EXPECT_NEAR(y.Variance()(0, 0), same.Variance()(0, 0), 1e-12);
  for (const double t : {-3.0, 0.8, 3.0, 5.1, 9.0}) {
    EXPECT_NEAR(y.LogDensity(0, Matrix::Constant(1, 1, t).row(0)),
                same.LogDensity(0, Matrix::Constant(1, 1, t).row(0)), 1e-12);
    EXPECT_NEAR(y.Cdf(0, 0, t), same.Cdf(0, 0, t), 1e-14);
    EXPECT_NEAR(y.Crps(0, 0, t), same.Crps(0, 0, t), 2e-8);
  }
  for (const double p : {0.001, 0.025, 0.5, 0.7, 0.975})
    EXPECT_NEAR(y.Quantile(0, 0, p), same.Quantile(0, 0, p), 1e-9);
}

// Numbers of this size cannot tell the humps' widths from 0.
TEST(TargetShape, HumpsNarrowerThanRoundingAreTwoPoints) {
  const Prediction y = Shaped({.gap = 4}, Latent(1e9, 1e-9), Vector::Constant(1, 0.3));
  EXPECT_NEAR(y.Crps(0, 0, 1e9), 4 * 0.3 * 0.3, 1e-3);
  EXPECT_NEAR(y.Crps(0, 0, 1e9 + 4), 4 * 0.7 * 0.7, 1e-3);
  EXPECT_NEAR(y.Crps(0, 0, 1e9 + 10), 4 * 0.7 * 0.7 + 6, 1e-3);
}

TEST(TargetShape, QuantilesOfAFrequentValueAreThatValue) {
  TargetShape shape{.warp = kLog};
  shape.has_value = true;
  shape.value_width = 1e-3;
  const Prediction y = Shaped(shape, Latent(2, 0.3), Vector::Constant(1, 0.6));
  EXPECT_EQ(y.Quantile(0, 0, 0.025), 0);
  EXPECT_EQ(y.Quantile(0, 0, 0.5), 0);
  EXPECT_GT(y.Quantile(0, 0, 0.7), 1);
  EXPECT_NEAR(Density(y, 0), 0.6 / 1e-3, 1);
}

// By the quantile of z, without a look at probabilities of y.
TEST(TargetShape, QuantilesInvertTheCdf) {
  for (const Warp& warp : {kLog, kLogit}) {
    const Prediction y = Shaped({.warp = warp}, Latent(-0.3, 0.4), {});
    for (const double p : {0.001, 0.3, 0.5, 0.99})
      EXPECT_NEAR(y.Cdf(0, 0, y.Quantile(0, 0, p)), p, 1e-10);
  }
  const TargetShape steps{.warp = kLog, .step = 0.25, .least = 0.5, .most = 20};
  const Prediction y = Shaped(steps, Latent(0.7, 0.6), {});
  for (const double p : {0.0001, 0.2, 0.5, 0.9, 0.9999}) {
    const double quantile = y.Quantile(0, 0, p);
    EXPECT_GE(y.Cdf(0, 0, quantile), p);
    if (quantile > 0.5) {
      EXPECT_LT(y.Cdf(0, 0, quantile - 0.25), p);
    }
  }
}

TEST(TargetShape, StepsHaveProbabilities) {
  for (const double step : {1.0, 0.5}) {
    for (const Warp& warp : {Warp{}, kLog}) {
      TargetShape shape{.warp = warp, .step = step};
      for (const double sd : {0.01, 0.3, 0.8}) {
        const Prediction y = Shaped(shape, Latent(0.9, sd), {});
        EXPECT_TRUE(y.discrete());
        double mass = 0, mean = 0, square = 0;
        for (double t = 0; t < 400; t += step) {
          const double p = step * Density(y, t);
          EXPECT_LE(p, 1 + 1e-12);
          mass += p;
          mean += p * t;
          square += p * t * t;
          EXPECT_NEAR(y.Cdf(0, 0, t), mass, 1e-9);
        }
        EXPECT_NEAR(mass, 1, 1e-6);
        EXPECT_NEAR(y.Mean()(0, 0), mean, 0.02 * (1 + mean));
        EXPECT_NEAR(y.Variance()(0, 0), square - mean * mean, 0.05 * (0.1 + square - mean * mean));
        const double median = y.Quantile(0, 0, 0.5);
        EXPECT_EQ(std::round(median / step), median / step);
        EXPECT_GE(y.Cdf(0, 0, median), 0.5);
        EXPECT_LT(y.Cdf(0, 0, median - step), 0.5);
        EXPECT_EQ(Density(y, -step), 0);
      }
    }
  }
}

TEST(TargetShape, TwoValues) {
  TargetShape shape{.step = 3, .least = 2, .most = 2};
  shape.has_value = true;
  shape.value = 5;
  shape.value_width = 3;
  const Prediction y = Shaped(shape, Latent(4, 1), Vector::Constant(1, 0.7));
  EXPECT_NEAR(3 * Density(y, 2), 0.3, 1e-12);
  EXPECT_NEAR(3 * Density(y, 5), 0.7, 1e-12);
  EXPECT_NEAR(y.Mean()(0, 0), 0.3 * 2 + 0.7 * 5, 1e-12);
  EXPECT_NEAR(y.Variance()(0, 0), 9 * 0.21, 1e-12);
  EXPECT_EQ(y.Quantile(0, 0, 0.29), 2);
  EXPECT_EQ(y.Quantile(0, 0, 0.31), 5);
  EXPECT_NEAR(y.Crps(0, 0, 5), 3 * 0.09, 1e-9);
}

TEST(TargetShape, PlainChangesNothing) {
  const Prediction y = Shaped({}, Latent(1, 2), {});
  EXPECT_FALSE(y.observed());
  EXPECT_EQ(y.Mean()(0, 0), 1);
}

TEST(TargetShape, RefusesNonsense) {
  EXPECT_THROW(CheckShape({.warp = {Warp::Kind::kLog, -1, 0.5, 2}}), Error);
  EXPECT_THROW(CheckShape({.warp = {Warp::Kind::kLogit, 0, 0, 1}}), Error);
  EXPECT_THROW(CheckShape({.step = -1}), Error);
  EXPECT_THROW(CheckShape({.step = 1, .least = 2, .most = 1}), Error);
  TargetShape value;
  value.has_value = true;
  EXPECT_THROW(CheckShape(value), Error);
  EXPECT_THROW(CheckShape({.gap = -1}), Error);
  EXPECT_THROW(CheckShape({.gap = kBoundless}), Error);
  EXPECT_THROW(CheckShape({.step = 1, .gap = 1}), Error);
  EXPECT_NO_THROW(CheckShape({.gap = 1}));
  EXPECT_NO_THROW(CheckShape({.warp = kLog, .step = 1}));
}

TEST(LogProbabilityBetween, HoldsInBothTails) {
  EXPECT_NEAR(LogProbabilityBetween(-1, 1, 0, 1), std::log(0.6826894921370859), 1e-12);
  EXPECT_NEAR(LogProbabilityBetween(20, 21, 0, 1), LogProbabilityBetween(-21, -20, 0, 1), 1e-12);
  EXPECT_TRUE(std::isfinite(LogProbabilityBetween(20, 21, 0, 1)));
  EXPECT_EQ(LogProbabilityBetween(-kBoundless, kBoundless, 5, 2), 0);
}

}  // namespace
}  // namespace fathom
