#include "fathom/optimize/adam.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fathom {
namespace {

TEST(Adam, TwoStepsByHand) {
  const AdamOptions options{.beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-8};
  AdamState state(2);
  Vector x{{1.0, -2.0}};
  AdamStep(options, 0.1, Vector{{4.0, -0.5}}, &state, &x);
  // The first step has the size of the rate, whatever the gradient's.
  EXPECT_NEAR(x[0], 0.9, 1e-8);
  EXPECT_NEAR(x[1], -1.9, 1e-8);
  AdamStep(options, 0.1, Vector{{1.0, 0.5}}, &state, &x);
  const double first = (0.9 * 0.1 * 4 + 0.1 * 1) / (1 - 0.9 * 0.9);
  const double second = (0.99 * 0.01 * 16 + 0.01 * 1) / (1 - 0.99 * 0.99);
  EXPECT_NEAR(x[0], 0.9 - 0.1 * first / std::sqrt(second), 1e-8);
  EXPECT_EQ(state.updates, 2);
}

TEST(Adam, DoesNotMoveWithoutAGradientOrARate) {
  AdamState state(1);
  Vector x{{3.0}};
  AdamStep({}, 0.1, Vector::Zero(1), &state, &x);
  EXPECT_EQ(x[0], 3);
  AdamStep({}, 0, Vector::Ones(1), &state, &x);
  EXPECT_EQ(x[0], 3);
}

TEST(Adam, FindsTheBottomOfAQuadratic) {
  const Vector target{{1.0, -2.0, 30.0}};
  const Vector curvature{{1.0, 100.0, 0.01}};
  AdamState state(3);
  Vector x = Vector::Zero(3);
  for (int i = 0; i < 4000; ++i) {
    const double rate = 0.1 * (1 - i / 4000.0);
    AdamStep({}, rate, curvature.cwiseProduct(x - target), &state, &x);
  }
  EXPECT_LT((x - target).cwiseAbs().maxCoeff(), 1e-3);
}

TEST(Adam, ACopiedStateContinuesToTheSameBits) {
  AdamState state(1);
  Vector x{{5.0}};
  const auto step = [](AdamState* s, Vector* at) { AdamStep({}, 0.1, 2 * *at, s, at); };
  for (int i = 0; i < 7; ++i) step(&state, &x);
  AdamState copy = state;
  Vector y = x;
  for (int i = 0; i < 7; ++i) step(&state, &x);
  for (int i = 0; i < 7; ++i) step(&copy, &y);
  EXPECT_EQ(x, y);
}

}  // namespace
}  // namespace fathom
