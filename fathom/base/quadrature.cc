#include "fathom/base/quadrature.h"

#include <cmath>
#include <numbers>

#include "fathom/base/linalg.h"

namespace fathom {

// The nodes are the eigenvalues of the Jacobi matrix of the Hermite polynomials, the weights the
// squares of the first entries of its eigenvectors (Golub and Welsch).
HermiteRule MakeHermiteRule(Index n) {
  Matrix jacobi = Matrix::Zero(n, n);
  for (Index i = 1; i < n; ++i) {
    jacobi(i, i - 1) = std::sqrt(static_cast<double>(i));
    jacobi(i - 1, i) = jacobi(i, i - 1);
  }
  const Eigensystem system = SymmetricEigensystem(jacobi);
  return {system.values, system.vectors.row(0).array().square()};
}

namespace {

// Newton's method on the Legendre polynomial, from the cosine that lies near each root.
PanelRule NewRule() {
  PanelRule rule{};
  constexpr int n = kPanelNodes;
  for (int i = 0; i < n; ++i) {
    double x = -std::cos(std::numbers::pi * (i + 0.75) / (n + 0.5));
    double slope = 0;
    for (int iteration = 0; iteration < 8; ++iteration) {
      double value = x;
      double before = 1;
      for (int k = 2; k <= n; ++k) {
        const double next = ((2 * k - 1) * x * value - (k - 1) * before) / k;
        before = value;
        value = next;
      }
      slope = n * (x * value - before) / (x * x - 1);
      x -= value / slope;
    }
    rule.nodes[i] = x;
    rule.weights[i] = 2 / ((1 - x * x) * slope * slope);
  }
  return rule;
}

}  // namespace

const PanelRule& GaussLegendre() {
  static const PanelRule rule = NewRule();
  return rule;
}

}  // namespace fathom
