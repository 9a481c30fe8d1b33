// Checks a gradient against central differences.
#ifndef FATHOM_TESTS_SUPPORT_GRADIENT_H_
#define FATHOM_TESTS_SUPPORT_GRADIENT_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "fathom/base/types.h"

namespace fathom {

using ScalarFunction = std::function<double(const Vector&)>;

// df/dx_i by central differences with one Richardson step: error O(h^4), and a few rounding errors
// of f divided by h.
inline double NumericalSlope(const ScalarFunction& function, Vector point, Index i, double h) {
  const double centre = point[i];
  const auto difference = [&](double step) {
    point[i] = centre + step;
    const double up = function(point);
    point[i] = centre - step;
    return (up - function(point)) / (2 * step);
  };
  return (4 * difference(0.5 * h) - difference(h)) / 3;
}

// `tolerance` is relative to the slope, and absolute where the slope is below 1. `name` maps a
// number to what stands there in messages; it may be null.
inline void ExpectGradientMatches(const ScalarFunction& function, const Vector& gradient,
                                  const Vector& point, double tolerance,
                                  const std::function<std::string(Index)>& name = nullptr,
                                  double step = 1e-3) {
  ASSERT_EQ(gradient.size(), point.size());
  for (Index i = 0; i < point.size(); ++i) {
    const double h = step * std::max(1.0, std::abs(point[i]));
    const double slope = NumericalSlope(function, point, i, h);
    EXPECT_NEAR(gradient[i], slope, tolerance * std::max(1.0, std::abs(slope)))
        << (name ? name(i) : "parameter " + std::to_string(i));
  }
}

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_GRADIENT_H_
