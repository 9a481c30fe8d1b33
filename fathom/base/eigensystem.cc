// Eigen's own factorisations, apart from their users: to compile them takes ten seconds.
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"

namespace fathom {

Eigensystem SymmetricEigensystem(const Matrix& A) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(A);
  if (solver.info() != Eigen::Success)
    throw NumericalError("the eigenvalues of a matrix cannot be found");
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Vector SolvePositiveDefinite(const Matrix& A, const Vector& b) { return A.llt().solve(b); }

}  // namespace fathom
