// Expectations under Gaussians by Gauss-Hermite quadrature.
#ifndef FATHOM_TESTS_SUPPORT_QUADRATURE_H_
#define FATHOM_TESTS_SUPPORT_QUADRATURE_H_

#include <cmath>
#include <functional>

#include "fathom/base/quadrature.h"

namespace fathom {

struct GaussHermite : HermiteRule {
  explicit GaussHermite(Index order) : HermiteRule(MakeHermiteRule(order)) {}
};

// E[f(x)], x ~ N(mean, diag(var)), on the full grid of nodes.
inline double Expect(const GaussHermite& rule, const Vector& mean, const Vector& var,
                     const std::function<double(const Vector&)>& f) {
  Vector x = mean;
  const std::function<double(Index)> over = [&](Index q) {
    if (q == mean.size()) return f(x);
    double sum = 0;
    for (Index i = 0; i < rule.nodes.size(); ++i) {
      x[q] = mean[q] + std::sqrt(var[q]) * rule.nodes[i];
      sum += rule.weights[i] * over(q + 1);
    }
    return sum;
  };
  return over(0);
}

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_QUADRATURE_H_
