#include "bnn/sgld_step.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/distribution/prediction.h"
#include "tests/support/gradient.h"

namespace fathom::bnn {
namespace {

TEST(SgldStep, DriftIsTheGradientOfTheLogPosterior) {
  RandomStream stream(3);
  const MlpShape shape(2, {4}, Activation::kTanh);
  Rows rows{stream.NormalMatrix(6, 2), Vector(6)};
  for (double& y : rows.y) y = stream.Normal();
  const SgldPrior prior{.weight_variances = Vector::LinSpaced(shape.num_weights(), 0.5, 2),
                        .kappa_mean = 0.3};
  const SgldPoint point{DrawWeights(Vector::Ones(shape.num_weights()), &stream), -1.2};
  MlpTape tape;
  SgldPoint drift;
  SgldDrift(shape, point, rows, {prior, 6}, &tape, &drift);
  const auto log_posterior = [&](const Vector& at) {
    const Vector w = at.head(shape.num_weights());
    const double kappa = at[at.size() - 1];
    return EvaluateLogPosterior({shape, w}, rows, WeightPrior(prior.weight_variances),
                                Softplus(kappa), &tape, nullptr)
               .value() +
           LogNormalPdf(kappa, prior.kappa_mean, prior.kappa_variance);
  };
  Vector at(point.weights.size() + 1);
  at << point.weights, point.kappa;
  Vector gradient(at.size());
  gradient << drift.weights, drift.kappa;
  ExpectGradientMatches(log_posterior, gradient, at, 1e-7, nullptr, 1e-4);
}

TEST(SgldStep, SoftplusAndItsInverse) {
  for (const double s2 : {1e-8, 1e-3, 0.5, 3.0, 50.0})
    EXPECT_NEAR(Softplus(InverseSoftplus(s2)) / s2, 1, 1e-7) << s2;
  EXPECT_NEAR((Softplus(0.7 + 1e-6) - Softplus(0.7 - 1e-6)) / 2e-6, Sigmoid(0.7), 1e-9);
  EXPECT_EQ(NoiseVariance(-100), kLeastNoise);
}

TEST(SgldStep, WithoutNoiseItIsHalfAStepAlongThePreconditionedDrift) {
  SgldPoint point{Vector::Zero(2), 0};
  const SgldPoint G{(Vector(2) << 1, 4).finished(), 9};
  SgldStep({0.1, 0.2}, G, {Vector::Ones(2), 1}, {Vector::Zero(2), 0}, &point);
  EXPECT_NEAR(point.weights[0], 0.05, 1e-15);
  EXPECT_NEAR(point.weights[1], 0.2, 1e-15);
  EXPECT_NEAR(point.kappa, 0.9, 1e-15);
  SgldStep({0.1, 0.2}, G, {Vector::Zero(2), 0}, {Vector::Ones(2), 1}, &point);
  EXPECT_NEAR(point.weights[1], 0.2 + std::sqrt(0.4), 1e-15);
}

}  // namespace
}  // namespace fathom::bnn
