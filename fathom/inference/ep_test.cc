#include "fathom/inference/ep.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "fathom/base/error.h"
#include "fathom/inference/aep_energy.h"
#include "fathom/inference/predict.h"
#include "fathom/inference/sep.h"
#include "tests/support/dense.h"
#include "tests/support/energy_gradient.h"
#include "tests/support/random_model.h"

namespace fathom {
namespace {

void SetPrior(GpLayer* layer) {
  for (SparseGp& gp : layer->gps) gp.posterior = Whitened::Prior(gp.num_inducing());
}

double MaxDifference(const Matrix& a, const Matrix& b) { return (a - b).cwiseAbs().maxCoeff(); }

const Whitened& PosteriorOf(const DeepGp& model, Index l, Index d) {
  return std::get<Whitened>(model.layers[l].gps[d].posterior);
}

double LargestPosteriorDifference(const DeepGp& a, const DeepGp& b) {
  double largest = 0;
  for (Index l = 0; l < a.num_layers(); ++l) {
    for (Index d = 0; d < a.layers[l].outputs(); ++d) {
      const Whitened& p = PosteriorOf(a, l, d);
      const Whitened& q = PosteriorOf(b, l, d);
      largest = std::max({largest, MaxDifference(p.mu, q.mu), MaxDifference(p.Delta, q.Delta)});
    }
  }
  return largest;
}

// Power EP's evidence of one layer with Gaussian noise, dense; alpha = 1 is FITC, alpha = 0 the
// collapsed bound.
double DenseEvidence(const DeepGp& model, const LabelledRows& table, double alpha) {
  const SparseGp& gp = model.layers[0].gps[0];
  const Index M = gp.num_inducing();
  const Index N = table.x.rows();
  Matrix joint(M + N, gp.input_dim());
  joint << gp.Z, table.x.mean;
  Matrix K;
  gp.kernel->Gram(gp.theta, joint, &K);
  Matrix Kuu = K.topLeftCorner(M, M);
  AddJitter(model.jitter, &Kuu);
  const Matrix Kfu = K.bottomLeftCorner(N, M);
  const Matrix Q = TimesTransposed(Times(Kfu, Inverse(Kuu)), Kfu);
  const Vector d = (K.bottomRightCorner(N, N) - Q).diagonal();
  const double noise = model.likelihood_parameters[0];
  Matrix total = Q;
  total.diagonal() += alpha * d;
  total.diagonal().array() += noise;
  const Vector y = table.y.col(0);
  const double evidence =
      -0.5 * (y.dot(Apply(Inverse(total), y)) +
              static_cast<double>(N) * std::log(2 * std::numbers::pi) + LogDeterminantOf(total));
  if (alpha == 0) return evidence - 0.5 * d.sum() / noise;
  return evidence - (1 - alpha) / (2 * alpha) * (1 + alpha * d.array() / noise).log().sum();
}

TEST(Ep, OneUpdateOfOneLayerGivesTheEvidenceOfFitcAndPowerEp) {
  RandomStream stream(1);
  const ThreadPool pool(2);
  for (const Index N : {1, 30}) {
    const DeepGp model = RandomModel({.M = 6}, &stream);
    const LabelledRows table = RandomRows(N, 2, 1, false, &stream);
    for (const double alpha : {1.0, 0.5, 0.1, 0.0}) {
      Ep ep(model, table.x, table.y, {.alpha = alpha}, pool);
      const Vector parameters = Pack(model, ep.packing());
      ep.Update(parameters, AllRows(N));
      EXPECT_NEAR(ep.Energy(parameters, nullptr), DenseEvidence(model, table, alpha), 1e-8)
          << "alpha " << alpha << ", " << N << " rows";
      EXPECT_LT(ep.Update(parameters, AllRows(N)), 1e-8);  // a fixed point
    }
  }
}

TEST(Ep, TinyInputVarianceTakesTheOtherPathToTheSamePosterior) {
  RandomStream stream(2);
  const ThreadPool pool(1);
  for (const std::vector<Index>& hidden : {std::vector<Index>{}, {2}}) {
    DeepGp model = RandomModel({.hidden = hidden, .linear_mean = true}, &stream);
    SetPrior(&model.layers[0]);  // both paths start from it alike
    const LabelledRows table = RandomRows(7, 2, 1, false, &stream);
    LabelledRows nearly = table;
    nearly.x.var.setConstant(1e-10);
    for (const double alpha : {0.0, 0.6}) {
      Ep line(model, table.x, table.y, {.alpha = alpha}, pool);
      Ep dense(model, nearly.x, nearly.y, {.alpha = alpha}, pool);
      const Vector parameters = Pack(model, line.packing());
      for (int i = 0; i < 3; ++i) {
        line.Update(parameters, AllRows(7));
        dense.Update(parameters, AllRows(7));
      }
      EXPECT_NEAR(line.Energy(parameters, nullptr), dense.Energy(parameters, nullptr), 1e-5);
      EXPECT_LT(LargestPosteriorDifference(line.Posterior(parameters), dense.Posterior(parameters)),
                1e-5);
    }
  }
}

struct GradientCase {
  std::string name;
  RandomModelOptions model;
  bool uncertain = false;
};

class FactorGradient : public testing::TestWithParam<std::tuple<GradientCase, double>> {};
INSTANTIATE_TEST_SUITE_P(
    Models, FactorGradient,
    testing::Combine(
        testing::Values(GradientCase{"One", {.M = 3}}, GradientCase{"OneUncertain", {.M = 3}, true},
                        GradientCase{"Two", {.hidden = {2}, .outputs = 2, .M = 3}},
                        GradientCase{"Three", {.hidden = {2, 1}, .M = 3, .skip = true}},
                        GradientCase{
                            "MeanUncertain", {.hidden = {2}, .M = 3, .linear_mean = true}, true},
                        GradientCase{"Shared", {.hidden = {2}, .M = 3, .shared = true}}),
        testing::Values(0.0, 0.5, 1.0)),
    [](const auto& test) {
      return std::get<0>(test.param).name + "Alpha" +
             std::to_string(static_cast<int>(10 * std::get<1>(test.param)));
    });

TEST_P(FactorGradient, OfHyperparametersWithFactorsFixed) {
  const auto& [c, alpha] = GetParam();
  RandomStream stream(3);
  const DeepGp model = RandomModel(c.model, &stream);
  const LabelledRows table = RandomRows(9, c.model.inputs, c.model.outputs, c.uncertain, &stream);
  const ThreadPool pool(1);
  Ep ep(model, table.x, table.y, {.alpha = alpha, .noise_floor = 0.01}, pool);
  Sep sep(model, table.x, table.y, {.alpha = alpha, .noise_floor = 0.01}, pool);
  const Vector point = Pack(model, ep.packing());
  const std::vector<Index> batch = {0, 2, 3, 7, 8};
  for (FactorInference* inference :
       {static_cast<FactorInference*>(&ep), static_cast<FactorInference*>(&sep)}) {
    inference->Update(point, AllRows(9));
    inference->Update(point, batch);
    ExpectEnergyGradientMatches(*inference, point, batch, 1e-7);
  }
}

// A row of weight 3 is three rows, in every update, in the energy and in its gradient.
TEST_P(FactorGradient, AWholeWeightIsThatManyRows) {
  const auto& [c, alpha] = GetParam();
  RandomStream stream(5);
  const DeepGp model = RandomModel(c.model, &stream);
  const LabelledRows table = RandomRows(4, c.model.inputs, c.model.outputs, c.uncertain, &stream);
  const Vector weights = (Vector(4) << 2, 1, 3, 1).finished();
  const std::vector<Index> copies = {0, 0, 1, 2, 2, 2, 3};
  LabelledRows repeated{Moments(7, table.x.cols()), Matrix(7, table.y.cols())};
  for (Index n = 0; n < 7; ++n) {
    repeated.x.mean.row(n) = table.x.mean.row(copies[n]);
    repeated.x.var.row(n) = table.x.var.row(copies[n]);
    repeated.y.row(n) = table.y.row(copies[n]);
  }
  const ThreadPool pool(1);
  const auto compare = [&](FactorInference* weighed, FactorInference* plain) {
    const Vector point = Pack(model, plain->packing());
    for (int update = 0; update < 3; ++update) {
      weighed->Update(point, AllRows(4));
      plain->Update(point, AllRows(7));
    }
    EXPECT_LT(LargestPosteriorDifference(weighed->Posterior(point), plain->Posterior(point)), 1e-9);
    double value[2];
    Vector gradient[2];
    std::string reason;
    ASSERT_TRUE(weighed->Evaluate(point, AllRows(4), &value[0], &gradient[0], &reason)) << reason;
    ASSERT_TRUE(plain->Evaluate(point, AllRows(7), &value[1], &gradient[1], &reason)) << reason;
    EXPECT_NEAR(value[0], value[1], 1e-10 * (1 + std::abs(value[1])));
    EXPECT_LT((gradient[0] - gradient[1]).norm(), 1e-9 * (1 + gradient[1].norm()));
  };
  const FactorOptions options{.alpha = alpha};
  FactorOptions weighted = options;
  weighted.weights = weights;
  Ep ep(model, table.x, table.y, weighted, pool);
  Ep plain_ep(model, repeated.x, repeated.y, options, pool);
  compare(&ep, &plain_ep);
  Sep sep(model, table.x, table.y, weighted, pool);
  Sep plain_sep(model, repeated.x, repeated.y, options, pool);
  compare(&sep, &plain_sep);
}

TEST(Ep, WeightsBelowAlphaAreRefused) {
  RandomStream stream(6);
  const DeepGp model = RandomModel({}, &stream);
  const LabelledRows table = RandomRows(3, 2, 1, false, &stream);
  const ThreadPool pool(1);
  const Vector weights = (Vector(3) << 1, 0.4, 1).finished();
  EXPECT_NO_THROW(Ep(model, table.x, table.y, {.alpha = 0.4, .weights = weights}, pool));
  EXPECT_THROW(Ep(model, table.x, table.y, {.alpha = 0.5, .weights = weights}, pool), Error);
}

// At a fixed point the energy is stationary in the factors.
TEST(Ep, GradientAtTheFixedPointIsTheWholeGradient) {
  RandomStream stream(4);
  const ThreadPool pool(1);
  DeepGp model = RandomModel({.M = 3}, &stream);
  LabelledRows table = RandomRows(8, 2, 1, false, &stream);
  model.likelihood = MakeLikelihood("probit");
  model.likelihood_parameters.resize(0);
  table.y = table.y.unaryExpr([](double v) { return v < 0 ? -1.0 : 1.0; });
  Ep ep(model, table.x, table.y, {.alpha = 1}, pool);
  const auto converge = [&](const Vector& at) {
    for (int i = 0; i < 100 && ep.Update(at, AllRows(8)) > 1e-12; ++i) {
    }
    return -ep.Energy(at, nullptr) / 8;
  };
  const Vector point = Pack(model, ep.packing());
  converge(point);
  double value = 0;
  Vector gradient;
  std::string reason;
  ASSERT_TRUE(ep.Evaluate(point, AllRows(8), &value, &gradient, &reason)) << reason;
  ExpectGradientMatches(converge, gradient, point, 1e-6);
}

TEST(Ep, DeepUpdatesSettle) {
  RandomStream stream(5);
  const ThreadPool pool(2);
  const DeepGp model = RandomModel({.hidden = {2}, .M = 4}, &stream);
  LabelledRows table = RandomRows(20, 2, 1, false, &stream);
  table.y = table.x.mean.col(0).array().sin().matrix();
  Ep ep(model, table.x, table.y, {.alpha = 0.5}, pool);
  const Vector parameters = Pack(model, ep.packing());
  const double first = ep.Energy(parameters, nullptr);
  double change = 1;
  for (int i = 0; i < 200 && change > 1e-6; ++i) change = ep.Update(parameters, AllRows(20));
  EXPECT_LT(change, 1e-6);
  EXPECT_GT(ep.Energy(parameters, nullptr), first);
}

// A table of one row has nothing to tie.
TEST(Sep, IsEpForOneRow) {
  RandomStream stream(6);
  const ThreadPool pool(1);
  for (const bool uncertain : {false, true}) {
    DeepGp model = RandomModel({.hidden = {2}}, &stream);
    SetPrior(&model.layers[0]);
    const LabelledRows table = RandomRows(1, 2, 1, uncertain, &stream);
    for (const double alpha : {1.0, 0.4}) {
      Ep ep(model, table.x, table.y, {.alpha = alpha}, pool);
      Sep sep(model, table.x, table.y, {.alpha = alpha}, pool);
      const Vector parameters = Pack(model, ep.packing());
      for (int i = 0; i < 3; ++i) {
        ep.Update(parameters, AllRows(1));
        sep.Update(parameters, AllRows(1));
        EXPECT_LT(LargestPosteriorDifference(ep.Posterior(parameters), sep.Posterior(parameters)),
                  1e-9);
        EXPECT_NEAR(ep.Energy(parameters, nullptr), sep.Energy(parameters, nullptr), 1e-9);
      }
    }
  }
}

// The variational limit has no cavities, so that tying changes nothing.
TEST(Sep, IsEpInTheVariationalLimit) {
  RandomStream stream(7);
  const ThreadPool pool(1);
  DeepGp model = RandomModel({.hidden = {2}}, &stream);
  SetPrior(&model.layers[0]);
  const LabelledRows table = RandomRows(9, 2, 1, true, &stream);
  Ep ep(model, table.x, table.y, {.alpha = 0}, pool);
  Sep sep(model, table.x, table.y, {.alpha = 0}, pool);
  const Vector parameters = Pack(model, ep.packing());
  for (int i = 0; i < 3; ++i) {
    ep.Update(parameters, AllRows(9));
    sep.Update(parameters, AllRows(9));
  }
  EXPECT_LT(LargestPosteriorDifference(ep.Posterior(parameters), sep.Posterior(parameters)), 1e-8);
  EXPECT_NEAR(ep.Energy(parameters, nullptr), sep.Energy(parameters, nullptr), 1e-8);
}

TEST(Sep, EnergyIsThatOfTheTiedFactor) {
  RandomStream stream(8);
  const ThreadPool pool(1);
  const DeepGp model = RandomModel({.hidden = {2}}, &stream);
  const LabelledRows table = RandomRows(9, 2, 1, false, &stream);
  Sep sep(model, table.x, table.y, {.alpha = 0.5}, pool);
  const Vector parameters = Pack(model, sep.packing());
  sep.Update(parameters, AllRows(9));
  const DeepGp posterior = sep.Posterior(parameters);
  const AepEnergy energy(posterior, table.x, table.y, {.alpha = 0.5}, pool);
  EXPECT_NEAR(sep.Energy(parameters, nullptr), energy.Energy(posterior, AllRows(9), nullptr).F,
              1e-10);
}

template <typename Inference>
DeepGp AfterTwoUpdates(const DeepGp& model, const LabelledRows& table, std::span<const Index> rows,
                       int threads) {
  const ThreadPool pool(threads);
  Inference inference(model, table.x, table.y, {.alpha = 0.5}, pool);
  const Vector parameters = Pack(model, inference.packing());
  inference.Update(parameters, rows);
  inference.Update(parameters, rows);
  return inference.Posterior(parameters);
}

template <typename Inference>
void ExpectIndependenceOfThreadsAndOrder() {
  RandomStream stream(9);
  for (const bool uncertain : {false, true}) {
    const DeepGp model = RandomModel({.hidden = {2}, .M = 5}, &stream);
    const LabelledRows table = RandomRows(40, 2, 1, uncertain, &stream);
    const DeepGp one = AfterTwoUpdates<Inference>(model, table, AllRows(40), 1);
    const DeepGp three = AfterTwoUpdates<Inference>(model, table, AllRows(40), 3);
    EXPECT_EQ(LargestPosteriorDifference(one, three), 0);
    const DeepGp shuffled = AfterTwoUpdates<Inference>(model, table, stream.Permutation(40), 1);
    EXPECT_LT(LargestPosteriorDifference(one, shuffled), 1e-9);
  }
}

TEST(Ep, ThreadsAndRowOrderDoNotMatter) { ExpectIndependenceOfThreadsAndOrder<Ep>(); }
TEST(Sep, ThreadsAndRowOrderDoNotMatter) { ExpectIndependenceOfThreadsAndOrder<Sep>(); }

// Row by row, as the paper has it, ends where the parallel updates end.
TEST(Ep, OneRowAtATimeReachesTheSameFixedPoint) {
  RandomStream stream(10);
  const ThreadPool pool(1);
  const DeepGp model = RandomModel({.M = 4}, &stream);
  const LabelledRows table = RandomRows(6, 2, 1, false, &stream);
  Ep ep(model, table.x, table.y, {.alpha = 1}, pool);
  const Vector parameters = Pack(model, ep.packing());
  for (Index n = 0; n < 6; ++n) {
    const std::vector<Index> row{n};
    ep.Update(parameters, row);
  }
  EXPECT_NEAR(ep.Energy(parameters, nullptr), DenseEvidence(model, table, 1), 1e-8);
}

TEST(Ep, CoincidentPseudoInputsAndTinyNoise) {
  RandomStream stream(11);
  const ThreadPool pool(1);
  DeepGp model = RandomModel({.hidden = {2}}, &stream);
  for (GpLayer& layer : model.layers) {
    for (SparseGp& gp : layer.gps) gp.Z.row(2) = gp.Z.row(0);
  }
  model.likelihood_parameters[0] = 1e-6;
  const LabelledRows table = RandomRows(9, 2, 1, false, &stream);
  Ep ep(model, table.x, table.y, {.alpha = 1}, pool);
  const Vector parameters = Pack(model, ep.packing());
  for (int i = 0; i < 20; ++i) {
    ep.Update(parameters, AllRows(9));
    double value = 0;
    Vector gradient;
    std::string reason;
    EXPECT_TRUE(ep.Evaluate(parameters, AllRows(9), &value, &gradient, &reason)) << reason;
  }
}

TEST(Ep, NotANumberIsReportedNotHidden) {
  RandomStream stream(12);
  const ThreadPool pool(1);
  const DeepGp model = RandomModel({.hidden = {2}}, &stream);
  LabelledRows table = RandomRows(9, 2, 1, false, &stream);
  table.y(3, 0) = std::numeric_limits<double>::infinity();
  Ep ep(model, table.x, table.y, {.alpha = 1}, pool);
  const Vector parameters = Pack(model, ep.packing());
  ep.Update(parameters, AllRows(9));
  double value = 0;
  std::string reason;
  EXPECT_FALSE(ep.Evaluate(parameters, AllRows(9), &value, nullptr, &reason));
  EXPECT_NE(reason, "");
}

TEST(Ep, FactorsLargerThanMemoryAreRefusedWithTheirSize) {
  RandomStream stream(13);
  const ThreadPool pool(1);
  DeepGp model = RandomModel({.inputs = 1, .hidden = {1}, .M = 2}, &stream);
  // Rows times (two numbers, their changes and a direction below; two packed factors above).
  EXPECT_EQ(Ep::MemoryNeeded(model, 10, false), 10 * 8 * (4 + 2 + 2 * 5));
  EXPECT_EQ(Ep::MemoryNeeded(model, 10, true), 10 * 8 * (10 + 10));
  const Index M = 2000;
  SparseGp& top = model.layers[1].gps[0];
  top.Z = stream.NormalMatrix(M, 1);
  top.posterior = Whitened::Prior(M);
  const Index rows = 1000000;
  const Moments x = Moments::Certain(Matrix::Zero(rows, 1));
  const Matrix y = Matrix::Zero(rows, 1);
  try {
    const Ep ep(model, x, y, {}, pool);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("32 TB"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace fathom
