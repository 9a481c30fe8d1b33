#include "fathom/base/quadrature.h"

#include <gtest/gtest.h>

#include <numbers>
#include <vector>

namespace fathom {
namespace {

TEST(Quadrature, PanelRuleIsExactForPolynomialsOfDegree31) {
  const PanelRule& rule = GaussLegendre();
  for (int degree = 0; degree < 2 * kPanelNodes; ++degree) {
    double sum = 0;
    for (int i = 0; i < kPanelNodes; ++i) sum += rule.weights[i] * std::pow(rule.nodes[i], degree);
    EXPECT_NEAR(sum, degree % 2 == 0 ? 2.0 / (degree + 1) : 0, 1e-14) << degree;
  }
}

TEST(Quadrature, PanelsOfThreeDeviationsIntegrateAGaussianToRounding) {
  const std::vector<Zone> zones{{-10, 10, 3}};
  double sum = 0;
  ForEachNode(-9, 9, zones, [&](double x, double w) { sum += w * std::exp(-0.5 * x * x); });
  EXPECT_NEAR(sum, std::sqrt(2 * std::numbers::pi), 1e-14);
}

TEST(Quadrature, ANarrowFeatureFarFromTheOriginIsNotMissed) {
  const double width = 1e-6;
  const std::vector<Zone> zones{{-1e3, 1e3, 300}, {7 - 9 * width, 7 + 9 * width, 3 * width}};
  double sum = 0;
  ForEachNode(-1e3, 1e3, zones, [&](double x, double w) {
    const double z = (x - 7) / width;
    sum += w / width * std::exp(-0.5 * z * z);
  });
  EXPECT_NEAR(sum, std::sqrt(2 * std::numbers::pi), 1e-8);
}

TEST(Quadrature, PanelsCoverTheIntervalOnceAndAnEmptyOneNotAtAll) {
  const std::vector<Zone> zones{{0.25, 0.5, 0.1}, {0.4, 0.9, 0.05}};
  double length = 0;
  double last = 0;
  ForEachNode(0, 1, zones, [&](double x, double w) {
    EXPECT_GT(x, last);
    last = x;
    length += w;
  });
  EXPECT_NEAR(length, 1, 1e-15);
  ForEachNode(1, 1, zones, [](double, double) { ADD_FAILURE(); });
  ForEachNode(1, 0, zones, [](double, double) { ADD_FAILURE(); });
}

TEST(Quadrature, AStepLostInRoundingStillEnds) {
  const double lo = 1e16;
  const double hi = 1e16 + 64;
  const std::vector<Zone> zones{{0, 1e17, 1e-3}};
  double length = 0;
  ForEachNode(lo, hi, zones, [&](double, double w) { length += w; });
  EXPECT_DOUBLE_EQ(length, 64);
}

}  // namespace
}  // namespace fathom
