#include "study/step.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/error.h"

namespace fathom {
namespace {

TEST(Step, SampleLiesOnTheStepUpToTheNoise) {
  RandomStream stream(1);
  const SampledFunction sample = SampleStep({.samples = 20000, .noise_std = 0.05}, &stream);
  ASSERT_EQ(sample.X.rows(), 20000);
  ASSERT_EQ(sample.y.rows(), 20000);
  double sum = 0;
  double sum_of_squares = 0;
  for (Index i = 0; i < sample.X.rows(); ++i) {
    ASSERT_LT(std::abs(sample.X(i, 0)), 1);
    const double residual = sample.y(i, 0) - (sample.X(i, 0) > 0 ? 1 : -1);
    sum += residual;
    sum_of_squares += residual * residual;
  }
  EXPECT_NEAR(sum / 20000, 0, 0.002);
  EXPECT_NEAR(std::sqrt(sum_of_squares / 20000), 0.05, 0.001);
  EXPECT_NEAR(sample.X.mean(), 0, 0.02);
  EXPECT_NEAR(sample.X.array().square().mean(), 1.0 / 3, 0.01);
}

TEST(Step, SameSeedSameSample) {
  RandomStream a(5), b(5), c(6);
  const SampledFunction first = SampleStep({}, &a);
  EXPECT_EQ(first.y, SampleStep({}, &b).y);
  EXPECT_NE(first.y, SampleStep({}, &c).y);
}

TEST(Step, TestGridIsEvenAndFreeOfNoise) {
  const SampledFunction grid = StepTestGrid(5);
  EXPECT_EQ(grid.X, (Matrix(5, 1) << -1, -0.5, 0, 0.5, 1).finished());
  EXPECT_EQ(grid.y, (Matrix(5, 1) << -1, -1, 0, 1, 1).finished());
}

TEST(Step, RefusesWhatIsNoSample) {
  RandomStream stream(1);
  EXPECT_THROW(SampleStep({.samples = 0}, &stream), Error);
  EXPECT_THROW(SampleStep({.noise_std = -1}, &stream), Error);
  EXPECT_THROW(SampleStep({.noise_std = std::nan("")}, &stream), Error);
  EXPECT_THROW(StepTestGrid(1), Error);
}

}  // namespace
}  // namespace fathom
