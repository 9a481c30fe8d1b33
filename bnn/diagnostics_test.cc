#include "bnn/diagnostics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/random.h"

namespace fathom::bnn {
namespace {

// Chains of x_t = r x_(t-1) + noise, each around its own mean.
Matrix Autoregressive(Index chains, Index length, double r, double spread) {
  RandomStream stream(5);
  Matrix draws(chains, length);
  for (Index c = 0; c < chains; ++c) {
    const double mean = spread * static_cast<double>(c);
    double x = stream.Normal() / std::sqrt(1 - r * r);
    for (Index t = 0; t < length; ++t) {
      x = r * x + stream.Normal();
      draws(c, t) = mean + x;
    }
  }
  return draws;
}

TEST(Diagnostics, RhatIsOneForIndependentDrawsAndLargeForChainsThatDisagree) {
  EXPECT_NEAR(SplitRhat(Autoregressive(4, 2000, 0, 0)), 1, 0.005);
  EXPECT_GT(SplitRhat(Autoregressive(4, 2000, 0, 3)), 2);
}

TEST(Diagnostics, RhatSeesADriftWithinOneChain) {
  Matrix draws = Autoregressive(1, 400, 0, 0);
  draws.row(0) += Vector::LinSpaced(400, 0, 4);
  EXPECT_GT(SplitRhat(draws), 1.3);
}

TEST(Diagnostics, EffectiveSampleSizeOfAnAutoregression) {
  for (const double r : {0.0, 0.5, 0.9}) {
    const double expected = 4 * 20000 * (1 - r) / (1 + r);
    EXPECT_NEAR(EffectiveSampleSize(Autoregressive(4, 20000, r, 0)) / expected, 1, 0.1) << r;
  }
}

TEST(Diagnostics, ConstantDrawsHaveNoRhat) {
  EXPECT_TRUE(std::isnan(SplitRhat(Matrix::Ones(2, 10))));
  EXPECT_TRUE(std::isnan(EffectiveSampleSize(Matrix::Ones(2, 10))));
}

// Acceptance as a falling function of the step: the averaged step finds where it meets the target.
TEST(Diagnostics, DualAveragingFindsTheStepOfItsTarget) {
  DualAveraging adaptation(0.05);
  for (int t = 0; t < 2000; ++t) adaptation.Update(std::exp(-adaptation.step()));
  EXPECT_NEAR(adaptation.averaged(), -std::log(0.8), 0.02);
}

}  // namespace
}  // namespace fathom::bnn
