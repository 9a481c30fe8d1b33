#include "bnn/dropout_loss.h"

#include <gtest/gtest.h>

#include "tests/support/gradient.h"

namespace fathom::bnn {
namespace {

TEST(DropoutLoss, GradientMatchesDifferences) {
  for (const Activation activation : {Activation::kRelu, Activation::kTanh}) {
    RandomStream stream(2);
    const MlpShape shape(3, {5, 4}, activation);
    Rows rows{stream.NormalMatrix(6, 3), Vector(6)};
    for (double& y : rows.y) y = stream.Normal();
    const Vector w = DrawWeights(Vector::Constant(shape.num_weights(), 0.5), &stream);
    InputFactors factors;
    NoiseStream masks(3);
    DrawFactors(shape, 0.3, 6, &masks, &factors);
    MlpTape tape;
    Vector gradient;
    DropoutLoss({shape, w}, rows, factors, 0.1, &tape, &gradient);
    ExpectGradientMatches(
        [&](const Vector& at) {
          return DropoutLoss({shape, at}, rows, factors, 0.1, &tape, nullptr);
        },
        gradient, w, 1e-7, nullptr, 1e-5);
  }
}

TEST(DropoutLoss, MasksKeepTheMeanAndAreDrawnAtTheRate) {
  NoiseStream stream(2);
  const MlpShape shape(10, {20}, Activation::kRelu);
  InputFactors factors;
  DrawFactors(shape, 0.2, 1000, &stream, &factors);
  ASSERT_EQ(factors.size(), 2U);
  EXPECT_EQ(factors[0].cols(), 10);
  EXPECT_NEAR(factors[1].mean(), 1, 0.02);
  EXPECT_NEAR((factors[1].array() == 0).cast<double>().mean(), 0.2, 0.02);
  DrawFactors(shape, 0, 3, &stream, &factors);
  EXPECT_EQ(factors[0], Matrix::Ones(3, 10));
}

TEST(DropoutLoss, BiasesHaveNoDecay) {
  const MlpShape shape(1, {}, Activation::kRelu);
  const Rows rows{Matrix::Zero(1, 1), Vector::Constant(1, 5)};
  const Vector w = (Vector(2) << 3, 5).finished();  // f = 5
  MlpTape tape;
  EXPECT_NEAR(DropoutLoss({shape, w}, rows, {Matrix::Ones(1, 1)}, 0.5, &tape, nullptr), 4.5, 1e-15);
}

}  // namespace
}  // namespace fathom::bnn
