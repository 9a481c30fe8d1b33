#include "tests/support/dense.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>

namespace fathom {

Matrix Times(const Matrix& A, const Matrix& B) { return A * B; }

Matrix Times(const Matrix& A, const Matrix& B, const Matrix& C) { return Times(Times(A, B), C); }

Matrix TimesTransposed(const Matrix& A, const Matrix& B) { return A * B.transpose(); }

Matrix TransposedTimes(const Matrix& A, const Matrix& B) { return A.transpose() * B; }

Vector Apply(const Matrix& A, const Vector& x) { return A * x; }

Matrix SelfProduct(const Matrix& A) { return TimesTransposed(A, A); }

Matrix Inverse(const Matrix& A) { return A.inverse(); }

double Determinant(const Matrix& A) { return A.determinant(); }

Matrix CholeskyFactor(const Matrix& A) { return A.llt().matrixL(); }

double LogDeterminantOf(const Matrix& A) {
  return 2 * CholeskyFactor(A).diagonal().array().log().sum();
}

double Distance(const Matrix& A, const Matrix& B) {
  return (A - B).cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
}

double Distance(const Vector& a, const Vector& b) {
  return (a - b).cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
}

}  // namespace fathom
