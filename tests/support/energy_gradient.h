// Checks the gradient of an energy, or of any other objective, against central differences.
#ifndef FATHOM_TESTS_SUPPORT_ENERGY_GRADIENT_H_
#define FATHOM_TESTS_SUPPORT_ENERGY_GRADIENT_H_

#include <string>

#include "fathom/optimize/objective.h"
#include "tests/support/gradient.h"

namespace fathom {

// At `point`, from the rows of `batch`. Tolerance and name as in ExpectGradientMatches.
inline void ExpectEnergyGradientMatches(const Objective& energy, const Vector& point,
                                        const Batch& batch, double tolerance,
                                        const std::function<std::string(Index)>& name = nullptr) {
  ASSERT_EQ(energy.num_parameters(), point.size());
  std::string reason;
  const auto value = [&](const Vector& at) {
    double result = 0;
    EXPECT_TRUE(energy.Evaluate(at, batch, &result, nullptr, &reason)) << reason;
    return result;
  };
  double with_gradient = 0;
  Vector gradient;
  ASSERT_TRUE(energy.Evaluate(point, batch, &with_gradient, &gradient, &reason)) << reason;
  EXPECT_EQ(with_gradient, value(point));
  ExpectGradientMatches(value, gradient, point, tolerance, name);
}

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_ENERGY_GRADIENT_H_
