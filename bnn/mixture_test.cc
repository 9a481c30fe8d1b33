#include "bnn/mixture.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fathom::bnn {
namespace {

TEST(MixtureOfDraws, HasTheMomentsOfTheDrawsAndIntegratesToOne) {
  const Matrix outputs{{0.0, 1.0}, {1.0, -2.0}, {0.5, 4.0}};
  const Vector noise = (Vector(3) << 0.1, 0.2, 0.6).finished();
  const Prediction mixture = MixtureOfDraws(outputs, noise);
  EXPECT_NEAR(mixture.Mean()(1, 0), 1.0, 1e-15);
  const double spread = (0 + 9 + 9) / 3.0;
  EXPECT_NEAR(mixture.Variance()(1, 0), spread + 0.3, 1e-14);
  double integral = 0;
  constexpr double kStep = 0.001;
  for (double y = -12; y < 12; y += kStep)
    integral += kStep * std::exp(mixture.LogDensity(1, Vector::Constant(1, y).transpose()));
  EXPECT_NEAR(integral, 1, 1e-9);
}

}  // namespace
}  // namespace fathom::bnn
