#include "fathom/distribution/normal_panel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "fathom/distribution/normal_tail.h"
#include "fathom/distribution/prediction.h"
#include "tests/support/simd_targets.h"

namespace fathom {
namespace {

// Calls check(x) for panels that cover [lo, hi], ends included, on every kind of vector.
template <typename Check>
void ForPanelsIn(double lo, double hi, int panels, const Check& check) {
  ForEachSimdTarget([&] {
    const int last = panels * kPanelNodes - 1;
    for (int p = 0; p < panels; ++p) {
      PanelValues x;
      for (int i = 0; i < kPanelNodes; ++i) x[i] = lo + (hi - lo) * (p * kPanelNodes + i) / last;
      check(x);
    }
  });
}

TEST(NormalPanel, IsTheNormalAtEveryNode) {
  ForPanelsIn(-37, 45, 100, [](const PanelValues& x) {
    const NormalPanel panel(x);
    for (int i = 0; i < kPanelNodes; ++i) {
      const double cdf = NormalCdf(x[i]);
      EXPECT_NEAR(panel.cdf[i], cdf, 3e-13 * cdf) << x[i];
      const double density = std::exp(-0.5 * x[i] * x[i]) / std::sqrt(2 * std::numbers::pi);
      EXPECT_NEAR(panel.density[i], density, std::max(3e-13 * density, 1e-297)) << x[i];
      const double slope = LogNormalCdf(x[i]).slope;
      EXPECT_NEAR(panel.slope[i], slope, std::max(3e-13 * slope, 1e-297)) << x[i];
    }
  });
}

TEST(NormalPanel, FarBelowThereIsNothingDenormal) {
  PanelValues x;
  x.setConstant(-1e9);
  const NormalPanel panel(x);
  EXPECT_LT(panel.cdf[0], 1e-290);
  EXPECT_GT(panel.cdf[0], std::numeric_limits<double>::min());
  x.setConstant(1e9);
  EXPECT_EQ(NormalPanel(x).cdf[0], 1);
}

TEST(LogNormalCdfPanel, IsLogNormalCdfAtEveryNode) {
  const auto check = [](const PanelValues& x) {
    const LogNormalCdfPanel panel(x);
    for (int i = 0; i < kPanelNodes; ++i) {
      const LogNormalCdf one(x[i]);
      EXPECT_NEAR(panel.value[i], one.value, 3e-13 * std::abs(one.value) + 1e-297) << x[i];
      EXPECT_NEAR(panel.slope[i], one.slope, 3e-13 * one.slope + 1e-297) << x[i];
      EXPECT_NEAR(panel.curvature[i], one.curvature, 2e-11 * std::abs(one.curvature) + 1e-295)
          << x[i];
    }
  };
  ForPanelsIn(-13, 13, 200, check);
  ForPanelsIn(-40, 36, 50, check);
  ForPanelsIn(-1e8, 0, 50, check);
}

TEST(NormalPanel, NaNStaysNaN) {
  ForEachSimdTarget([] {
    PanelValues x = PanelValues::Zero();
    x[3] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(std::isnan(NormalPanel(x).cdf[3]));
    EXPECT_TRUE(std::isnan(LogNormalCdfPanel(x).value[3]));
    EXPECT_TRUE(std::isnan(ExpPanel(x)[3]));
    EXPECT_EQ(NormalPanel(x).cdf[2], 0.5);
  });
}

TEST(ExpPanel, IsTheExponential) {
  ForPanelsIn(-700, 700, 100, [](const PanelValues& x) {
    const PanelValues exp = ExpPanel(x);
    for (int i = 0; i < kPanelNodes; ++i) EXPECT_NEAR(exp[i] / std::exp(x[i]), 1, 1e-15) << x[i];
  });
}

}  // namespace
}  // namespace fathom
