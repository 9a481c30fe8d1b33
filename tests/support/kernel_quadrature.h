// Slow and simple oracles for the tests of expectations: Gauss-Hermite quadrature on a tensor grid,
// and central differences.
#ifndef FATHOM_TESTS_SUPPORT_KERNEL_QUADRATURE_H_
#define FATHOM_TESTS_SUPPORT_KERNEL_QUADRATURE_H_

#include <cmath>
#include <functional>

#include "fathom/base/linalg.h"
#include "fathom/base/quadrature.h"

namespace fathom {

// E f(x) under N(mu, Sigma), Sigma positive semidefinite, with `nodes` points per dimension.
inline double ExpectByGaussHermite(const Vector& mu, const Matrix& Sigma, int nodes,
                                   const std::function<double(const Vector&)>& f) {
  const HermiteRule rule = MakeHermiteRule(nodes);
  const Eigensystem spread = SymmetricEigensystem(Sigma);
  const Matrix root = spread.vectors * spread.values.cwiseMax(0).cwiseSqrt().asDiagonal();
  const Index D = mu.size();
  double sum = 0;
  const auto count = static_cast<Index>(std::llround(std::pow(nodes, D)));
  for (Index k = 0; k < count; ++k) {
    Vector t(D);
    double weight = 1;
    Index rest = k;
    for (Index q = 0; q < D; ++q, rest /= nodes) {
      t[q] = rule.nodes[rest % nodes];
      weight *= rule.weights[rest % nodes];
    }
    sum += weight * f(mu + root * t);
  }
  return sum;
}

// df/d(*at) at its present value; *at is restored.
inline double CentralDifference(double* at, const std::function<double()>& f) {
  const double value = *at;
  const double step = 1e-5;
  *at = value + step;
  const double above = f();
  *at = value - step;
  const double below = f();
  *at = value;
  return (above - below) / (2 * step);
}

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_KERNEL_QUADRATURE_H_
