#include "fathom/data/resolution.h"

#include <gtest/gtest.h>

#include "fathom/base/random.h"

namespace fathom {
namespace {

TEST(Resolution, IsTheStepOfATargetThatRepeatsItsValues) {
  RandomStream stream(1);
  const Vector continuous = stream.NormalMatrix(200, 1);
  EXPECT_EQ(Resolution(continuous), 0);
  EXPECT_NEAR(Resolution((10 * continuous.array()).round() / 10), 0.1, 1e-12);
  const Vector two = (continuous.array() > 0).cast<double>();
  EXPECT_EQ(Resolution(two), 1);
  EXPECT_EQ(Resolution(Vector::Ones(5)), 0);  // no step at all
}

}  // namespace
}  // namespace fathom
