#include "bnn/mean_field.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/gradient.h"

namespace fathom::bnn {
namespace {

struct Problem {
  Bound bound;
  Rows batch;
  MeanField q;
};

Problem RandomProblem(Activation activation) {
  RandomStream stream(6);
  const MlpShape shape(2, {4, 3}, activation);
  Rows batch{stream.NormalMatrix(5, 2), Vector(5)};
  for (double& y : batch.y) y = stream.Normal();
  const Vector ones = Vector::Ones(shape.num_weights());
  MeanField q{DrawWeights(0.5 * ones, &stream), DrawWeights(0.1 * ones, &stream), -0.4};
  q.rho.array() -= 1;
  return {{.shape = shape, .prior = {.mean = 0.2, .variance = 0.7}, .kl_weight = 0.6, .rows = 40},
          std::move(batch),
          std::move(q)};
}

WeightNoise DrawWeightNoise(const MlpShape& shape, int draws) {
  RandomStream stream(9);
  WeightNoise eps;
  for (int s = 0; s < draws; ++s)
    eps.push_back(DrawWeights(Vector::Ones(shape.num_weights()), &stream));
  return eps;
}

class BoundOf : public testing::TestWithParam<Activation> {};
INSTANTIATE_TEST_SUITE_P(Activations, BoundOf,
                         testing::Values(Activation::kRelu, Activation::kTanh));

TEST_P(BoundOf, WeightFormGradientMatchesDifferences) {
  const Problem p = RandomProblem(GetParam());
  const WeightNoise eps = DrawWeightNoise(p.bound.shape, 3);
  MeanField gradient;
  WeightFormLoss(p.bound, p.q, p.batch, eps, &gradient);
  const auto loss = [&](const Vector& at) {
    return WeightFormLoss(p.bound, MeanField::Unpack(at), p.batch, eps, nullptr).value(p.bound);
  };
  ExpectGradientMatches(loss, gradient.Pack(), p.q.Pack(), 1e-7, nullptr, 1e-5);
}

TEST_P(BoundOf, LocalFormGradientMatchesDifferences) {
  const Problem p = RandomProblem(GetParam());
  RandomStream stream(9);
  UnitNoise eps;
  for (Index l = 0; l < p.bound.shape.num_layers(); ++l)
    eps.push_back(stream.NormalMatrix(2 * p.batch.size(), p.bound.shape.fan_out(l)));
  MeanField gradient;
  LocalTape tape;
  LocalFormLoss(p.bound, p.q, p.batch, eps, &gradient, &tape);
  const auto loss = [&](const Vector& at) {
    return LocalFormLoss(p.bound, MeanField::Unpack(at), p.batch, eps, nullptr, &tape)
        .value(p.bound);
  };
  ExpectGradientMatches(loss, gradient.Pack(), p.q.Pack(), 1e-7, nullptr, 1e-5);
}

TEST(MeanField, BothFormsHaveTheSameMean) {
  const Problem p = RandomProblem(Activation::kTanh);
  constexpr Index kDraws = 20000;
  RandomStream stream(9);
  UnitNoise local;
  for (Index l = 0; l < p.bound.shape.num_layers(); ++l)
    local.push_back(stream.NormalMatrix(kDraws * p.batch.size(), p.bound.shape.fan_out(l)));
  const VariationalLoss a =
      WeightFormLoss(p.bound, p.q, p.batch, DrawWeightNoise(p.bound.shape, kDraws), nullptr);
  LocalTape tape;
  const VariationalLoss b = LocalFormLoss(p.bound, p.q, p.batch, local, nullptr, &tape);
  EXPECT_EQ(a.kl, b.kl);
  EXPECT_NEAR(a.expected_nll / b.expected_nll, 1, 0.02);
}

// Graves' curvature stands for the Hessian: of a linear network Gauss-Newton's is exact, so that
// the two estimates of dL/drho have the same mean.
TEST(MeanField, GravesGradientHasTheMeanOfTheReparameterisedOne) {
  RandomStream stream(6);
  const Bound bound{.shape = {2, {}, Activation::kRelu}, .rows = 5};
  Rows batch{stream.NormalMatrix(5, 2), Vector(5)};
  for (double& y : batch.y) y = stream.Normal();
  const MeanField q{Vector::Constant(3, 0.3), Vector::Constant(3, -0.5), -0.4};
  MeanField by_curvature;
  MeanField by_draws;
  GravesLoss(bound, q, batch, DrawWeightNoise(bound.shape, 40000), Curvature::kGaussNewton,
             &by_curvature);
  WeightFormLoss(bound, q, batch, DrawWeightNoise(bound.shape, 40000), &by_draws);
  EXPECT_LT((by_curvature.mu - by_draws.mu).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((by_curvature.rho - by_draws.rho).cwiseAbs().maxCoeff(), 0.1);
  EXPECT_GT(by_curvature.rho.cwiseAbs().maxCoeff(), 1);
}

TEST(MeanField, KlIsZeroAtThePriorAndLeastForTheOptimalOne) {
  const NormalPrior prior{0.3, 1.7};
  const MeanField same{Vector::Constant(4, 0.3), Vector::Constant(4, 0.5 * std::log(1.7))};
  EXPECT_NEAR(Kl(same, prior), 0, 1e-14);
  const MeanField q = RandomProblem(Activation::kRelu).q;
  const NormalPrior best = OptimalPrior(q);
  for (const NormalPrior& other :
       {NormalPrior{best.mean + 0.01, best.variance}, NormalPrior{best.mean, 1.02 * best.variance},
        NormalPrior{best.mean, 0.98 * best.variance}})
    EXPECT_GT(Kl(q, other), Kl(q, best));
}

TEST(MeanField, UnitsWithoutAnyNoiseAreNoDivisionByZero) {
  const Bound bound{.shape = {1, {2}, Activation::kRelu}, .rows = 3};
  const MeanField q{Vector::Zero(7), Vector::Constant(7, -400), 0};
  const Rows batch{Matrix::Zero(3, 1), Vector::Ones(3)};
  const UnitNoise eps = {Matrix::Ones(3, 2), Matrix::Ones(3, 1)};
  MeanField gradient;
  LocalTape tape;
  const VariationalLoss loss = LocalFormLoss(bound, q, batch, eps, &gradient, &tape);
  EXPECT_TRUE(std::isfinite(loss.expected_nll));
  EXPECT_TRUE(gradient.Pack().allFinite());
}

}  // namespace
}  // namespace fathom::bnn
