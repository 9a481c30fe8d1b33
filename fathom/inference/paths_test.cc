#include "fathom/inference/paths.h"

#include <gtest/gtest.h>

#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "fathom/inference/aep_energy.h"
#include "fathom/inference/predict.h"
#include "tests/support/random_model.h"

namespace fathom {
namespace {

DeepGp SampledModel(std::vector<Index> hidden, RandomStream* stream) {
  return RandomModel({.hidden = std::move(hidden), .propagation = Propagation::kSamples}, stream);
}

TEST(Paths, DependOnTheRowAloneAndOnTheDraw) {
  RandomStream stream(1);
  const DeepGp model = SampledModel({2, 3}, &stream);
  const PathSource source{.samples = 4, .seed = 7, .draw = 3};
  Matrix both;
  Matrix one;
  DrawPaths(model, source, std::vector<Index>{5, 9}, &both);
  DrawPaths(model, source, std::vector<Index>{9}, &one);
  ASSERT_EQ(both.rows(), 8);
  ASSERT_EQ(both.cols(), 5);
  EXPECT_EQ(both.bottomRows(4), one);
  EXPECT_NE(both.topRows(4), one);
  Matrix fresh;
  DrawPaths(model, {.samples = 4, .seed = 7, .draw = 4}, std::vector<Index>{9}, &fresh);
  EXPECT_NE(fresh, one);
}

TEST(Paths, MixtureOfEqualPathsIsThePathItself) {
  for (const double alpha : {0.0, 0.5, 1.0}) {
    for (const double outer : {alpha, 1.0}) {
      Vector l = Vector::Constant(4, -1.7);
      const Vector log_weights = Vector::Constant(4, std::log(0.25));
      EXPECT_NEAR(MixPaths(log_weights, alpha, outer, l.data(), nullptr), -1.7, 1e-14);
      EXPECT_NEAR((l.array() - 0.25).abs().maxCoeff(), 0, 1e-15);
    }
  }
}

TEST(Paths, MixtureIsSafeFarOutAndShowsNaN) {
  const Vector log_weights = Vector::Constant(2, std::log(0.5));
  Vector l(2);
  l << -1e6, -1e6 - 3;
  EXPECT_NEAR(MixPaths(log_weights, 1, 1, l.data(), nullptr),
              -1e6 + std::log(0.5 * (1 + std::exp(-3))), 1e-9);
  EXPECT_NEAR(l.sum(), 1, 1e-12);
  l << 0, std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(MixPaths(log_weights, 1, 1, l.data(), nullptr)));
}

// The mean and variance of a two-layer network are exact under moment matching, so those of the
// mixture of many paths must come to them.
TEST(Paths, MixtureOfManyPathsHasTheExactMoments) {
  RandomStream stream(2);
  DeepGp model = RandomModel({.hidden = {2}}, &stream);
  const Moments x = Moments::Certain(stream.NormalMatrix(3, 2));
  const ThreadPool pool(1);
  const NetworkPredictor predictor(model, pool);
  const Prediction exact = predictor.Predict(x, {});
  const Index S = 20000;
  const Prediction mixture = predictor.Predict(x, {.samples = S});
  const Matrix sd = exact.Variance().array().sqrt();
  for (Index n = 0; n < 3; ++n) {
    const double error = 5 * sd(n, 0) / std::sqrt(static_cast<double>(S));
    EXPECT_NEAR(mixture.Mean()(n, 0), exact.Mean()(n, 0), error);
    EXPECT_NEAR(mixture.Variance()(n, 0) / exact.Variance()(n, 0), 1, 0.05);
  }
}

// One hidden unit: log Z is a one-dimensional integral over it.
TEST(Paths, EnergyOfManyPathsIsTheIntegral) {
  RandomStream stream(3);
  DeepGp model = SampledModel({1}, &stream);
  model.samples = 40000;
  const Moments x = Moments::Certain(stream.NormalMatrix(1, 2));
  const Matrix y = Matrix::Constant(1, 1, 0.4);
  const ThreadPool pool(1);
  for (const bool mixture : {false, true}) {
    const double alpha = 0.6;
    const AepOptions options{.alpha = alpha, .N = 10, .mixture = mixture};
    const AepEnergy energy(model, x, y, options, pool);
    const double sampled = energy.Energy(model, AllRows(1), nullptr).sum_log_z;

    ConditionedModel gps;
    gps.Prepare(model, {alpha, 10}, pool);
    Network network;
    network.Prepare(model, {}, gps, pool);
    const auto forward = [&](Index layer, const Moments& below) {
      Network::LayerTape tape;
      Handed out;
      network.Reserve(layer, below.rows(), &tape);
      network.Forward(layer, {below, {}}, x, &tape, &out);
      return out.moments;
    };
    const Moments hidden = forward(0, x);
    const double outer = mixture ? 1 : alpha;
    const auto integrand = [&](double e) {
      const Moments h = Moments::Certain(
          Matrix::Constant(1, 1, hidden.mean(0, 0) + std::sqrt(hidden.var(0, 0)) * e));
      const Moments f = forward(1, h);
      double d_m = 0;
      double d_v = 0;
      Vector d_noise = Vector::Zero(1);
      const double l = model.likelihood->LogZ(
          {model.likelihood_parameters, alpha, 1, y.data(), f.mean.data(), f.var.data()},
          {&d_m, &d_v, d_noise.data()});
      return std::exp(outer * l / alpha - 0.5 * e * e) / std::sqrt(2 * std::numbers::pi);
    };
    const double Z =
        boost::math::quadrature::gauss_kronrod<double, 61>::integrate(integrand, -9.0, 9.0, 8);
    EXPECT_NEAR(sampled, alpha / outer * std::log(Z), 0.01) << mixture;
  }
}

// The points of a model are its paths, in training and in prediction.
TEST(Paths, PointsGiveTheSameMixtureToEveryRow) {
  RandomStream stream(4);
  const DeepGp model =
      RandomModel({.hidden = {2, 1}, .outputs = 2, .propagation = Propagation::kPoints}, &stream);
  const Moments x = Moments::Certain(stream.NormalMatrix(40, 2));
  const ThreadPool pool(2);
  const NetworkPredictor predictor(model, pool);
  const Prediction whole = predictor.Predict(x, {});
  ASSERT_EQ(whole.size(), model.points.rows());
  EXPECT_NEAR(whole.weights.sum(), 1, 1e-14);
  EXPECT_NEAR(whole.weights[0], model.point_weights[0] / model.point_weights.sum(), 1e-15);
  const Prediction seeded = predictor.Predict(x, {.samples = 50, .seed = 9});
  EXPECT_EQ(seeded.size(), whole.size());
  EXPECT_EQ(seeded.components[1].mean, whole.components[1].mean);
}

TEST(Paths, EnergyHasTheSameBitsForAnyThreads) {
  RandomStream stream(5);
  const DeepGp model = SampledModel({2}, &stream);
  const Moments x = Moments::Certain(stream.NormalMatrix(300, 2));
  const Matrix y = stream.NormalMatrix(300, 1);
  std::vector<double> values;
  for (const int threads : {1, 3}) {
    const ThreadPool pool(threads);
    const AepEnergy energy(model, x, y, {}, pool);
    values.push_back(energy.Energy(model, AllRows(300), nullptr).F);
  }
  EXPECT_EQ(values[0], values[1]);
}

}  // namespace
}  // namespace fathom
