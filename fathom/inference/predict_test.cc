#include "fathom/inference/predict.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

#include "fathom/base/error.h"
#include "tests/support/random_model.h"

namespace fathom {
namespace {

void ExpectSameBits(const Prediction& got, const Prediction& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t s = 0; s < got.components.size(); ++s) {
    EXPECT_EQ(got.components[s].mean, expected.components[s].mean);
    EXPECT_EQ(got.components[s].var, expected.components[s].var);
  }
}

TEST(Predict, ARowHasTheSameBitsWhereverItStands) {
  RandomStream stream(1);
  const ThreadPool pool(2);
  for (const bool skip : {false, true}) {
    const NetworkPredictor predictor(RandomModel({.hidden = {3, 2}, .M = 9, .skip = skip}, &stream),
                                     pool);
    Moments x = Moments::Certain(stream.NormalMatrix(53, 2));
    AddInputVariance(&stream, &x);
    for (const Index samples : {0, 4}) {
      PredictOptions options;
      options.samples = samples;
      const Prediction whole = predictor.Predict(x, options);
      for (const Index chunk : {1, 5, 16, 30}) {
        for (Index begin = 0; begin < x.rows(); begin += chunk) {
          const Index count = std::min(chunk, x.rows() - begin);
          options.first_row = begin;
          const Prediction part = predictor.Predict(x.MiddleRows(begin, count), options);
          ASSERT_EQ(part.size(), whole.size());
          for (std::size_t s = 0; s < part.components.size(); ++s) {
            EXPECT_EQ(part.components[s].mean, whole.components[s].mean.middleRows(begin, count));
            EXPECT_EQ(part.components[s].var, whole.components[s].var.middleRows(begin, count));
          }
        }
      }
    }
  }
}

TEST(Predict, ThreadsAndRepetitionDoNotChangeABit) {
  RandomStream stream(2);
  const DeepGp model = RandomModel({.hidden = {2}, .outputs = 2}, &stream);
  const Moments x = Moments::Certain(stream.NormalMatrix(70, 2));
  const ThreadPool one(1);
  const ThreadPool three(3);
  const NetworkPredictor alone(model, one);
  const NetworkPredictor together(model, three);
  for (const Index samples : {0, 3}) {
    PredictOptions options;
    options.samples = samples;
    const Prediction first = alone.Predict(x, options);
    ExpectSameBits(alone.Predict(x, options), first);
    ExpectSameBits(together.Predict(x, options), first);
  }
}

TEST(Predict, SeedMovesTheSamplesOnly) {
  RandomStream stream(3);
  const ThreadPool pool(1);
  const NetworkPredictor predictor(RandomModel({.hidden = {2}}, &stream), pool);
  const Moments x = Moments::Certain(stream.NormalMatrix(3, 2));
  EXPECT_NE(predictor.Predict(x, {.samples = 5, .seed = 1}).Mean(),
            predictor.Predict(x, {.samples = 5, .seed = 2}).Mean());
  ExpectSameBits(predictor.Predict(x, {.seed = 1}), predictor.Predict(x, {.seed = 2}));
}

// For a top layer that is nearly linear over the spread of the hidden units moment matching is
// exact, and the mixture must come to the same moments.
TEST(Predict, SamplesOfANearlyLinearModelHaveTheMatchedMoments) {
  RandomStream stream(4);
  DeepGp model = RandomModel({.hidden = {2}}, &stream);
  model.layers[1].gps[0].theta.tail(2).setConstant(30);
  model.layers[1].gps[0].theta[0] = 900;
  model.layers[1].gps[0].Z *= 8;
  const ThreadPool pool(2);
  const NetworkPredictor predictor(model, pool);
  Moments x = Moments::Certain(stream.NormalMatrix(4, 2));
  const Prediction matched = predictor.Predict(x, {});
  const Prediction sampled = predictor.Predict(x, {.samples = 20000});
  for (Index n = 0; n < 4; ++n) {
    const double sd = std::sqrt(matched.Variance()(n, 0));
    EXPECT_NEAR(sampled.Mean()(n, 0), matched.Mean()(n, 0), 0.04 * sd);
    EXPECT_NEAR(sampled.Variance()(n, 0) / matched.Variance()(n, 0), 1, 0.06);
  }
}

// The first two moments of one hidden layer are exact under moment matching, whatever the function.
TEST(Predict, SamplesOfTwoLayersHaveTheMatchedMoments) {
  RandomStream stream(5);
  const ThreadPool pool(2);
  const NetworkPredictor predictor(RandomModel({.hidden = {2}}, &stream), pool);
  const Moments x = Moments::Certain(stream.NormalMatrix(3, 2));
  const Prediction matched = predictor.Predict(x, {});
  const Prediction sampled = predictor.Predict(x, {.samples = 20000});
  for (Index n = 0; n < 3; ++n) {
    const double sd = std::sqrt(matched.Variance()(n, 0));
    EXPECT_NEAR(sampled.Mean()(n, 0), matched.Mean()(n, 0), 0.04 * sd);
    EXPECT_NEAR(sampled.Variance()(n, 0) / matched.Variance()(n, 0), 1, 0.06);
  }
}

// One layer of a model as a model of its own.
DeepGp LayerAlone(const DeepGp& model, std::size_t l) {
  DeepGp alone = model;
  alone.layers = {model.layers[l]};
  alone.layers[0].noise_variance.resize(0);
  alone.layers[0].skip = false;
  alone.likelihood_parameters = Vector::Ones(alone.outputs());
  return alone;
}

TEST(Predict, LayersHandOnMomentsNoiseAndSkippedInputs) {
  RandomStream stream(12);
  const ThreadPool pool(1);
  for (const bool skip : {false, true}) {
    for (const bool linear : {false, true}) {
      const DeepGp model =
          RandomModel({.hidden = {2}, .skip = skip, .linear_mean = linear}, &stream);
      Moments x = Moments::Certain(stream.NormalMatrix(9, 2));
      AddInputVariance(&stream, &x);
      Moments hidden =
          NetworkPredictor(LayerAlone(model, 0), pool).Predict(x, {.latent = true}).components[0];
      hidden.var.rowwise() += model.layers[0].noise_variance.transpose();
      if (skip) {
        Moments joint(9, 4);
        joint.mean << hidden.mean, x.mean;
        joint.var << hidden.var, x.var;
        hidden = joint;
      }
      const Prediction expected =
          NetworkPredictor(LayerAlone(model, 1), pool).Predict(hidden, {.latent = true});
      const Prediction got = NetworkPredictor(model, pool).Predict(x, {.latent = true});
      EXPECT_LT((got.Mean() - expected.Mean()).cwiseAbs().maxCoeff(), 1e-13);
      EXPECT_LT((got.Variance() - expected.Variance()).cwiseAbs().maxCoeff(), 1e-13);
    }
  }
}

TEST(Predict, OneLayerHasNothingToSample) {
  RandomStream stream(6);
  const ThreadPool pool(1);
  const NetworkPredictor predictor(RandomModel({}, &stream), pool);
  const Moments x = Moments::Certain(stream.NormalMatrix(5, 2));
  ExpectSameBits(predictor.Predict(x, {.samples = 7}), predictor.Predict(x, {}));
}

TEST(Predict, LatentIsWithoutTheNoise) {
  RandomStream stream(7);
  const ThreadPool pool(1);
  const DeepGp model = RandomModel({.hidden = {2}, .outputs = 2}, &stream);
  const NetworkPredictor predictor(model, pool);
  const Moments x = Moments::Certain(stream.NormalMatrix(20, 2));
  for (const Index samples : {0, 3}) {
    const Prediction f = predictor.Predict(x, {.latent = true, .samples = samples});
    const Prediction y = predictor.Predict(x, {.samples = samples});
    for (std::size_t s = 0; s < f.components.size(); ++s) {
      EXPECT_EQ(f.components[s].mean, y.components[s].mean);
      for (Index d = 0; d < 2; ++d) {
        const Vector noise = y.components[s].var.col(d) - f.components[s].var.col(d);
        EXPECT_LT((noise.array() - model.likelihood_parameters[d]).abs().maxCoeff(), 1e-14);
      }
    }
  }
}

TEST(Predict, LogDensityIsThatOfTheGaussian) {
  RandomStream stream(8);
  const ThreadPool pool(1);
  const NetworkPredictor predictor(RandomModel({.hidden = {2}, .outputs = 2}, &stream), pool);
  const Prediction prediction = predictor.Predict(Moments::Certain(stream.NormalMatrix(3, 2)), {});
  const Eigen::RowVectorXd y{{0.3, -0.8}};
  for (Index n = 0; n < 3; ++n) {
    double expected = 0;
    for (Index d = 0; d < 2; ++d) {
      const double var = prediction.Variance()(n, d);
      const double miss = y[d] - prediction.Mean()(n, d);
      expected -= 0.5 * (std::log(2 * M_PI * var) + miss * miss / var);
    }
    EXPECT_NEAR(prediction.LogDensity(n, y), expected, 1e-12);
  }
}

// A trained-looking model: a steep, well known function of the inputs.
DeepGp SlopeModel() {
  RandomStream stream(9);
  DeepGp model = RandomModel({.inputs = 1, .M = 9}, &stream);
  SparseGp& gp = model.layers[0].gps[0];
  gp.Z.col(0).setLinSpaced(-4, 4);
  gp.theta = Vector{{4, 2}};
  Matrix K;
  gp.kernel->Gram(gp.theta, gp.Z, &K);
  gp.posterior = Sites{100 * gp.Z.col(0), 10 * Matrix::Identity(9, 9)};  // u = z, known to 0.1
  return model;
}

TEST(Predict, NoisyInputsWidenThePrediction) {
  const ThreadPool pool(1);
  const NetworkPredictor predictor(SlopeModel(), pool);
  Moments x = Moments::Certain(Matrix::Constant(4, 1, 0.5));
  x.var << 0, 0.01, 0.1, 1;
  const Prediction prediction = predictor.Predict(x, {.latent = true});
  for (Index n = 1; n < 4; ++n)
    EXPECT_GT(prediction.Variance()(n, 0), prediction.Variance()(n - 1, 0)) << n;
  // f(x) is close to x there, so its variance is close to that of x.
  EXPECT_NEAR(prediction.Variance()(2, 0), 0.1, 0.03);
  EXPECT_NEAR(prediction.Mean()(0, 0), 0.5, 0.05);
}

TEST(Predict, NoiseInOneRowDoesNotTouchTheOthers) {
  const ThreadPool pool(1);
  const NetworkPredictor predictor(SlopeModel(), pool);
  Moments x = Moments::Certain(Matrix::Constant(3, 1, 0.5));
  const Prediction before = predictor.Predict(x, {});
  x.var(1, 0) = 1;
  const Prediction after = predictor.Predict(x, {});
  EXPECT_EQ(before.Mean()(0, 0), after.Mean()(0, 0));
  EXPECT_EQ(before.Variance()(2, 0), after.Variance()(2, 0));
  EXPECT_NE(before.Variance()(1, 0), after.Variance()(1, 0));
}

TEST(Predict, AnyNumberOfThreadsMayAskAtOnce) {
  RandomStream stream(10);
  const Moments x = Moments::Certain(stream.NormalMatrix(64, 2));
  const DeepGp model = RandomModel({.hidden = {2}}, &stream);
  for (const int size : {1, 2}) {
    const ThreadPool pool(size);
    const NetworkPredictor predictor(model, pool);
    const Prediction expected = predictor.Predict(x, {});
    std::atomic<int> same = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int repeat = 0; repeat < 20; ++repeat) {
          try {
            same += predictor.Predict(x, {}).components[0].mean == expected.components[0].mean;
          } catch (const InternalError&) {  // counted as not the same
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(same.load(), 80) << size;
  }
}

TEST(Predict, NoRowsAndWrongColumns) {
  RandomStream stream(11);
  const ThreadPool pool(1);
  const NetworkPredictor predictor(RandomModel({.hidden = {2}}, &stream), pool);
  EXPECT_EQ(predictor.Predict(Moments::Certain(Matrix(0, 2)), {}).rows(), 0);
  EXPECT_THROW(predictor.Predict(Moments::Certain(Matrix::Zero(2, 3)), {}), Error);
  EXPECT_THROW(predictor.Predict(Moments::Certain(Matrix::Zero(2, 2)), {.samples = -1}), Error);
}

}  // namespace
}  // namespace fathom
