#include "bnn/weight_posterior.h"

#include <gtest/gtest.h>

#include "fathom/distribution/prediction.h"
#include "tests/support/gradient.h"

namespace fathom::bnn {
namespace {

Rows RandomRows(Index rows, Index inputs) {
  RandomStream stream(11);
  Rows out{stream.NormalMatrix(rows, inputs), Vector(rows)};
  for (double& y : out.y) y = stream.Normal();
  return out;
}

class PosteriorOf : public testing::TestWithParam<Activation> {};
INSTANTIATE_TEST_SUITE_P(Activations, PosteriorOf,
                         testing::Values(Activation::kRelu, Activation::kTanh));

TEST_P(PosteriorOf, GradientMatchesDifferences) {
  const MlpShape shape(2, {4, 3}, GetParam());
  const Rows rows = RandomRows(7, 2);
  RandomStream stream(2);
  const Vector w = DrawWeights(Vector::Constant(shape.num_weights(), 0.6), &stream);
  const Vector prior = shape.SpreadGroups(Vector::LinSpaced(6, 0.4, 2));
  MlpTape tape;
  Vector gradient;
  EvaluateLogPosterior({shape, w}, rows, WeightPrior(prior), 0.3, &tape, &gradient);
  ExpectGradientMatches(
      [&](const Vector& at) {
        return EvaluateLogPosterior({shape, at}, rows, WeightPrior(prior), 0.3, &tape, nullptr)
            .value();
      },
      gradient, w, 1e-7, nullptr, 1e-5);
}

TEST(WeightPosterior, IsTheSumOfLogDensitiesOverRowsAndWeights) {
  const MlpShape shape(2, {3}, Activation::kTanh);
  const Rows rows = RandomRows(5, 2);
  RandomStream stream(4);
  const Vector w = DrawWeights(Vector::Ones(shape.num_weights()), &stream);
  const Vector f = MlpOutputs({shape, w}, rows.X);
  double expected = 0;
  for (Index n = 0; n < 5; ++n) expected += LogNormalPdf(rows.y[n], f[n], 0.2);
  for (const double weight : w) expected += LogNormalPdf(weight, 0, 1.5);
  MlpTape tape;
  const Vector prior = Vector::Constant(w.size(), 1.5);
  EXPECT_NEAR(
      EvaluateLogPosterior({shape, w}, rows, WeightPrior(prior), 0.2, &tape, nullptr).value(),
      expected, 1e-11);
}

TEST(WeightPosterior, TilesDoNotShow) {
  const MlpShape shape(3, {8}, Activation::kRelu);
  const Rows rows = RandomRows(2 * kTileRows + 17, 3);
  RandomStream stream(4);
  const Vector w = DrawWeights(Vector::Ones(shape.num_weights()), &stream);
  MlpTape tape;
  Vector descent = Vector::Zero(w.size());
  const double sum = SumSquaredResiduals({shape, w}, rows, &tape, &descent);
  MlpForward({shape, w}, rows.X, &tape);
  const Vector residuals = rows.y - tape.f;
  Vector whole = Vector::Zero(w.size());
  MlpBackward({shape, w}, residuals, &tape, &whole);
  EXPECT_NEAR(sum, residuals.squaredNorm(), 1e-9);
  EXPECT_LT((descent - whole).cwiseAbs().maxCoeff(), 1e-9);
}

// With one weight per input the diagonal of J'J / s2 is known.
TEST(WeightPosterior, FisherOfALinearNetworkIsTheSumOfSquaredInputs) {
  const MlpShape shape(2, {}, Activation::kRelu);
  const Rows rows = RandomRows(9, 2);
  MlpTape tape;
  const Vector fisher = FisherDiagonal({shape, Vector::Ones(3)}, rows, 0.25, &tape);
  EXPECT_NEAR(fisher[0], rows.X.col(0).squaredNorm() / 0.25, 1e-11);
  EXPECT_NEAR(fisher[1], rows.X.col(1).squaredNorm() / 0.25, 1e-11);
  EXPECT_NEAR(fisher[2], 9 / 0.25, 1e-11);
}

}  // namespace
}  // namespace fathom::bnn
