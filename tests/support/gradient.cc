#include "tests/support/gradient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace fathom {

double NumericalSlope(const ScalarFunction& function, Vector point, Index i, double h) {
  const double centre = point[i];
  const auto difference = [&](double step) {
    point[i] = centre + step;
    const double up = function(point);
    point[i] = centre - step;
    return (up - function(point)) / (2 * step);
  };
  return (4 * difference(0.5 * h) - difference(h)) / 3;
}

void ExpectGradientMatches(const ScalarFunction& function, const Vector& gradient,
                           const Vector& point, double tolerance,
                           const std::function<std::string(Index)>& name, double step) {
  ASSERT_EQ(gradient.size(), point.size());
  for (Index i = 0; i < point.size(); ++i) {
    const double h = step * std::max(1.0, std::abs(point[i]));
    const double slope = NumericalSlope(function, point, i, h);
    EXPECT_NEAR(gradient[i], slope, tolerance * std::max(1.0, std::abs(slope)))
        << (name ? name(i) : "parameter " + std::to_string(i));
  }
}

}  // namespace fathom
