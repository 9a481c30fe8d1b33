#include "fathom/likelihood/observed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "fathom/base/error.h"
#include "fathom/base/quadrature.h"
#include "fathom/distribution/prediction.h"

namespace fathom {
namespace {

// Every likelihood whose y is more than its moments; a new one is found here by itself.
std::vector<std::string> NotGaussian() {
  std::vector<std::string> names;
  for (const std::string& name : LikelihoodNames()) {
    if (!MakeLikelihood(name)->ObservesGaussian()) names.push_back(name);
  }
  return names;
}

// One target of one row, as Predict gives it: two components, one of them certain of f.
class EveryObservation : public testing::TestWithParam<std::string> {
 protected:
  EveryObservation() {
    const auto likelihood = MakeLikelihood(GetParam());
    const Index outputs = likelihood->NumOutputs(/*targets=*/1, /*classes=*/0);
    y_.observations.assign(
        2, MakeObservation(likelihood, likelihood->InitialParameters(outputs, 0.3), outputs));
    y_.components = {Moments(Matrix::Constant(1, outputs, 0.4), Matrix::Constant(1, outputs, 0.6)),
                     Moments(Matrix::Constant(1, outputs, 0.9), Matrix::Zero(1, outputs))};
    y_.weights = Vector{{0.4, 0.6}};
  }

  bool discrete() const { return y_.discrete(); }
  double Density(double y) const {
    return std::exp(y_.LogDensity(0, Eigen::RowVectorXd::Constant(1, y)));
  }
  // The sum or integral of g over (from, to]; panels grow with the distance from 0.
  double Integrate(double from, double to, const std::function<double(double)>& g) const {
    double sum = 0;
    if (discrete()) {
      for (double k = std::max(std::floor(from) + 1, 0.0); k <= to; ++k) sum += g(k);
      return sum;
    }
    std::vector<Zone> zones{{-4, 4, 0.25}};
    for (double far = 4; far < 1e9; far *= 2) {
      zones.push_back({far, 2 * far, 0.25 * far});
      zones.push_back({-2 * far, -far, 0.25 * far});
    }
    ForEachNode(from, to, zones, [&](double y, double weight) { sum += weight * g(y); });
    return sum;
  }

  Prediction y_;
};
INSTANTIATE_TEST_SUITE_P(Likelihoods, EveryObservation, testing::ValuesIn(NotGaussian()),
                         [](const auto& test) { return test.param; });

TEST_P(EveryObservation, CdfIsTheIntegralOfTheDensity) {
  const auto density = [&](double y) { return Density(y); };
  for (const double y : {-3.0, -0.2, 0.0, 0.9, 1.0, 3.3, 8.0}) {
    const double from = discrete() ? -1 : -60;
    EXPECT_NEAR(y_.Cdf(0, 0, y) - y_.Cdf(0, 0, from), Integrate(from, y, density), 1e-10) << y;
  }
  EXPECT_NEAR(y_.Cdf(0, 0, 1e7), 1, 1e-12);
}

TEST_P(EveryObservation, MomentsAreThoseOfTheDensity) {
  const double far = discrete() ? 3000 : 1e7;
  const auto integrate = [&](const auto& g) {
    return Integrate(-far, far, [&](double y) { return g(y) * Density(y); });
  };
  const double mean = integrate([](double y) { return y; });
  EXPECT_EQ(y_.outputs(), 1);
  EXPECT_NEAR(y_.Mean()(0, 0), mean, 1e-8);
  EXPECT_NEAR(y_.Variance()(0, 0), integrate([&](double y) { return (y - mean) * (y - mean); }),
              1e-8);
}

TEST_P(EveryObservation, QuantileInvertsTheCdf) {
  for (const double p : {1e-6, 0.025, 0.3, 0.5, 0.9, 0.975, 1 - 1e-9}) {
    const double q = y_.Quantile(0, 0, p);
    if (discrete()) {
      EXPECT_GE(y_.Cdf(0, 0, q), p);
      EXPECT_TRUE(q == 0 || y_.Cdf(0, 0, q - 1) < p) << p << " " << q;
    } else {
      EXPECT_NEAR(y_.Cdf(0, 0, q), p, 1e-10 * std::min(p, 1 - p) + 1e-15) << q;
    }
  }
}

TEST_P(EveryObservation, CrpsIsItsDefinition) {
  for (const double y : {0.0, 2.0, 40.0}) {
    const auto squared = [&](double t) {
      const double F = y_.Cdf(0, 0, t);
      return t >= y ? (1 - F) * (1 - F) : F * F;
    };
    const double far = discrete() ? 300 : 1e4;
    const double expected = Integrate(-far, y - (discrete() ? 1 : 0), squared) +
                            Integrate(y - (discrete() ? 1 : 0), far, squared);
    EXPECT_NEAR(y_.Crps(0, 0, y), expected, 1e-7 * (1 + expected)) << y;
  }
}

TEST_P(EveryObservation, RescalesAsYDoes) {
  if (discrete()) GTEST_SKIP() << "whole numbers stay as they are";
  Prediction scaled = y_;
  for (auto& observation : scaled.observations)
    observation = Rescaled(observation, Vector{{5.0}}, Vector{{3.0}});
  EXPECT_NEAR(scaled.Mean()(0, 0), 5 + 3 * y_.Mean()(0, 0), 1e-12);
  EXPECT_NEAR(scaled.Variance()(0, 0), 9 * y_.Variance()(0, 0), 1e-12);
  EXPECT_NEAR(scaled.Quantile(0, 0, 0.9), 5 + 3 * y_.Quantile(0, 0, 0.9), 1e-9);
  EXPECT_NEAR(scaled.Crps(0, 0, 8), 3 * y_.Crps(0, 0, 1), 1e-8);
  EXPECT_NEAR(scaled.LogDensity(0, Eigen::RowVectorXd::Constant(1, 8)), std::log(Density(1) / 3),
              1e-12);
}

TEST_P(EveryObservation, ExtremeMomentsStayFinite) {
  const auto likelihood = MakeLikelihood(GetParam());
  const Index outputs = likelihood->NumOutputs(1, 0);
  const Vector parameters = likelihood->InitialParameters(outputs, 0.1);
  for (const double m : {-20.0, 0.0, 20.0}) {
    for (const double v : {0.0, 1e-9, 1.0, 400.0}) {
      for (const double alpha : {1e-6, 0.5, 1.0}) {
        for (const double y : {0.0, 1.0, 1000.0}) {
          const Vector mean = Vector::Constant(outputs, m);
          const Vector var = Vector::Constant(outputs, v);
          Vector d_m(outputs), d_v(outputs), d_p = Vector::Zero(parameters.size());
          const double z =
              likelihood->LogZ({parameters, alpha, outputs, &y, mean.data(), var.data()},
                               {d_m.data(), d_v.data(), d_p.data()});
          EXPECT_TRUE(std::isfinite(z) && d_m.allFinite() && d_v.allFinite() && d_p.allFinite())
              << m << " " << v << " " << alpha << " " << y;
        }
      }
    }
  }
}

TEST(Observation, OfGaussianNoiseAndOfClassesIsTheirMoments) {
  for (const char* name : {"gaussian", "probit", "softmax", "robust_max"})
    EXPECT_EQ(MakeObservation(MakeLikelihood(name), Vector::Ones(2), 2), nullptr) << name;
}

}  // namespace
}  // namespace fathom
