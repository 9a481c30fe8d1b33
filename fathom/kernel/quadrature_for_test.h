// Slow and simple oracles for the tests of expectations: Gauss-Hermite quadrature on a tensor grid,
// and central differences.
#ifndef FATHOM_KERNEL_QUADRATURE_FOR_TEST_H_
#define FATHOM_KERNEL_QUADRATURE_FOR_TEST_H_

#include <Eigen/Eigenvalues>
#include <cmath>
#include <functional>

#include "fathom/base/types.h"

namespace fathom {

// E f(x) under N(mu, Sigma), Sigma positive semidefinite, with `nodes` points per dimension.
inline double GaussHermite(const Vector& mu, const Matrix& Sigma, int nodes,
                           const std::function<double(const Vector&)>& f) {
  // Golub and Welsch: the nodes for N(0, 1) are the eigenvalues of the Jacobi matrix of the Hermite
  // polynomials, the weights the squares of the eigenvectors' first entries.
  Eigen::MatrixXd jacobi = Eigen::MatrixXd::Zero(nodes, nodes);
  for (int k = 1; k < nodes; ++k) jacobi(k, k - 1) = jacobi(k - 1, k) = std::sqrt(k);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> rule(jacobi);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> spread(Sigma);
  const Eigen::MatrixXd root =
      spread.eigenvectors() * spread.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal();
  const Index D = mu.size();
  double sum = 0;
  const Index count = static_cast<Index>(std::llround(std::pow(nodes, D)));
  for (Index k = 0; k < count; ++k) {
    Vector t(D);
    double weight = 1;
    Index rest = k;
    for (Index q = 0; q < D; ++q, rest /= nodes) {
      t[q] = rule.eigenvalues()[rest % nodes];
      weight *= std::pow(rule.eigenvectors()(0, rest % nodes), 2);
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

#endif  // FATHOM_KERNEL_QUADRATURE_FOR_TEST_H_
