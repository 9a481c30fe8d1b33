// Expectations under Gaussians by Gauss-Hermite quadrature.
#ifndef FATHOM_TESTS_SUPPORT_QUADRATURE_H_
#define FATHOM_TESTS_SUPPORT_QUADRATURE_H_

#include <Eigen/Eigenvalues>
#include <cmath>
#include <functional>

#include "fathom/base/types.h"

namespace fathom {

// Nodes and weights for E[f(t)], t ~ N(0, 1): eigenvalues of the Jacobi matrix of the Hermite
// polynomials (Golub and Welsch).
struct GaussHermite {
  Vector nodes, weights;

  explicit GaussHermite(Index order) {
    Matrix jacobi = Matrix::Zero(order, order);
    for (Index i = 1; i < order; ++i) {
      jacobi(i, i - 1) = std::sqrt(static_cast<double>(i));
      jacobi(i - 1, i) = jacobi(i, i - 1);
    }
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(jacobi);
    nodes = solver.eigenvalues();
    weights = solver.eigenvectors().row(0).array().square();
  }
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
