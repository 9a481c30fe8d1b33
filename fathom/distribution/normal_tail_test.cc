#include "fathom/distribution/normal_tail.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace fathom {
namespace {

TEST(LogNormalCdf, KnownValues) {
  const LogNormalCdf zero(0);
  EXPECT_NEAR(zero.value, -std::numbers::ln2, 1e-15);
  EXPECT_NEAR(zero.slope, std::sqrt(2 / std::numbers::pi), 1e-15);
  EXPECT_NEAR(zero.curvature, -2 / std::numbers::pi, 1e-15);
  EXPECT_NEAR(LogNormalCdf(1.96).value, std::log(0.97500210485177952), 1e-15);
  EXPECT_NEAR(LogNormalCdf(9).value, -1.1285884059538405e-19, 1e-32);
}

TEST(LogNormalCdf, TheTwoFormsMeet) {
  const LogNormalCdf series(std::nextafter(-12.0, -13.0));
  const LogNormalCdf direct(-12.0);
  EXPECT_NEAR(series.value / direct.value, 1, 1e-14);
  EXPECT_NEAR(series.slope / direct.slope, 1, 1e-13);
  EXPECT_NEAR(series.curvature / direct.curvature, 1, 1e-11);
}

TEST(LogNormalCdf, SlopeAndCurvatureAreThoseOfTheValue) {
  for (const double x : {-1e3, -50.0, -13.0, -11.0, -3.0, -0.4, 0.9, 4.0}) {
    const double h = 1e-4 * std::max(1.0, std::abs(x));
    const LogNormalCdf at(x);
    const LogNormalCdf up(x + h);
    const LogNormalCdf down(x - h);
    EXPECT_NEAR((up.value - down.value) / (2 * h), at.slope, 2e-8 * (1 + at.slope)) << x;
    EXPECT_NEAR((up.slope - down.slope) / (2 * h), at.curvature, 2e-8) << x;
  }
}

TEST(LogNormalCdf, FarTailsAreFinite) {
  const LogNormalCdf low(-1e8);
  EXPECT_NEAR(low.value / -0.5e16, 1, 1e-14);
  EXPECT_NEAR(low.slope / 1e8, 1, 1e-14);
  EXPECT_NEAR(low.curvature, -1, 1e-14);
  const LogNormalCdf high(1e8);
  EXPECT_EQ(high.value, 0);
  EXPECT_EQ(high.slope, 0);
  EXPECT_EQ(high.curvature, 0);
  EXPECT_TRUE(std::isnan(LogNormalCdf(std::numeric_limits<double>::quiet_NaN()).value));
}

}  // namespace
}  // namespace fathom
