// Checks a gradient against central differences.
#ifndef FATHOM_TESTS_SUPPORT_GRADIENT_H_
#define FATHOM_TESTS_SUPPORT_GRADIENT_H_

#include <functional>
#include <string>

#include "fathom/base/types.h"

namespace fathom {

using ScalarFunction = std::function<double(const Vector&)>;

// df/dx_i by central differences with one Richardson step: error O(h^4), and a few rounding errors
// of f divided by h.
double NumericalSlope(const ScalarFunction& function, Vector point, Index i, double h);

// `tolerance` is relative to the slope, and absolute where the slope is below 1. `name` maps a
// number to what stands there in messages; it may be null.
void ExpectGradientMatches(const ScalarFunction& function, const Vector& gradient,
                           const Vector& point, double tolerance,
                           const std::function<std::string(Index)>& name = nullptr,
                           double step = 1e-3);

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_GRADIENT_H_
