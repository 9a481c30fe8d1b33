#include "fathom/inference/joint_rows.h"

#include <gtest/gtest.h>

#include "fathom/base/linalg.h"
#include "fathom/inference/predict.h"
#include "tests/support/random_model.h"

namespace fathom {
namespace {

std::vector<Matrix> CovariancesOf(const DeepGp& model, const Moments& x, const JointDraws& draws,
                                  int threads = 1) {
  const ThreadPool pool(threads);
  ConditionedModel gps;
  gps.Prepare(model, Cavity::Posterior(), pool);
  return CovariancesOfRows(model, gps, x, model.outputs(), draws, pool);
}

Matrix LatentVariance(const DeepGp& model, const Moments& x, Index samples = 0) {
  const ThreadPool pool(1);
  return NetworkPredictor(model, pool).Predict(x, {.latent = true, .samples = samples}).Variance();
}

TEST(JointRows, OneLayerHasTheVariancesOfThePredictionAndFollowsTheSum) {
  RandomStream stream(1);
  const DeepGp model = RandomModel({.outputs = 2, .M = 6}, &stream);
  const Moments x = Moments::Certain(stream.NormalMatrix(9, 2));
  const std::vector<Matrix> cov = CovariancesOf(model, x, {});
  const Matrix var = LatentVariance(model, x);
  ASSERT_EQ(cov.size(), 2U);
  for (Index t = 0; t < 2; ++t) {
    EXPECT_LT((cov[t].diagonal() - var.col(t)).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_EQ(cov[t], Matrix(cov[t].transpose()));
    EXPECT_GT(SymmetricEigensystem(cov[t]).values[0], -1e-9);
  }
  // k(x, x') - k(x)'S k(x') of one pair by hand.
  const SparseGp& gp = model.layers[0].gps[1];
  const ThreadPool pool(1);
  ConditionedModel gps;
  gps.Prepare(model, Cavity::Posterior(), pool);
  Matrix k(9, 6), own(9, 9);
  gp.kernel->Cross(gp.theta, x.mean, gp.Z, k);
  gp.kernel->Cross(gp.theta, x.mean, x.mean, own);
  EXPECT_NEAR(cov[1](2, 7), own(2, 7) - (k.row(2) * gps.at(0, 1).S * k.row(7).transpose()).value(),
              1e-12);
}

TEST(JointRows, DrawsThroughHiddenLayersHaveTheVariancesOfPaths) {
  RandomStream stream(2);
  for (const bool skip : {false, true}) {
    const DeepGp model =
        RandomModel({.hidden = {2, 2}, .M = 6, .skip = skip, .linear_mean = true}, &stream);
    Moments x = Moments::Certain(stream.NormalMatrix(4, 2));
    x.var(1, 0) = 0.5;  // one cell is uncertain
    const Matrix cov = CovariancesOf(model, x, {.samples = 6000})[0];
    const Matrix var = LatentVariance(model, x, 6000);
    EXPECT_GT(SymmetricEigensystem(cov).values[0], 0);
    for (Index n = 0; n < 4; ++n) EXPECT_NEAR(cov(n, n) / var(n, 0), 1, 0.1) << n;
  }
}

TEST(JointRows, CopiesAreOffTogetherAndFarRowsAreNot) {
  RandomStream stream(3);
  DeepGp model = RandomModel({.hidden = {2}, .M = 5}, &stream);
  model.layers[0].noise_variance.setConstant(1e-9);  // which every row has for itself
  Matrix rows = stream.NormalMatrix(3, 2);
  rows.row(1) = rows.row(0);
  const Matrix cov = CovariancesOf(model, Moments::Certain(rows), {})[0];
  EXPECT_NEAR(cov(0, 1) / cov(0, 0), 1, 1e-3);
  // Far from the pseudo-points and from each other one layer knows its prior alone.
  const DeepGp shallow = RandomModel({.M = 5}, &stream);
  rows.row(0).setConstant(50);
  rows.row(1).setConstant(-50);
  const Matrix far = CovariancesOf(shallow, Moments::Certain(rows), {})[0];
  EXPECT_LT(std::abs(far(0, 1)), 1e-12);
}

TEST(JointRows, ThreadsDoNotChangeABitAndTheSeedDoes) {
  RandomStream stream(4);
  const DeepGp model = RandomModel({.hidden = {2}, .M = 5}, &stream);
  const Moments x = Moments::Certain(stream.NormalMatrix(7, 2));
  const Matrix one = CovariancesOf(model, x, {.samples = 20, .seed = 5}, 1)[0];
  EXPECT_EQ(CovariancesOf(model, x, {.samples = 20, .seed = 5}, 3)[0], one);
  EXPECT_NE(CovariancesOf(model, x, {.samples = 20, .seed = 6}, 1)[0], one);
}

}  // namespace
}  // namespace fathom
