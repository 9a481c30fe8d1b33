#include "fathom/base/linalg.h"

#include "fathom/base/error.h"

extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dtrtri_(const char* uplo, const char* diag, const int* n, double* a, const int* lda,
             int* info);
}

namespace fathom {

bool CholeskyInPlace(Matrix* A) {
  FATHOM_CHECK(A->rows() == A->cols());
  const int n = static_cast<int>(A->rows());
  int info = 0;
  // The lower triangle of a row-major matrix is the upper one of the column-major matrix that
  // LAPACK sees.
  if (n > 0) dpotrf_("U", &n, A->data(), &n, &info);
  if (info != 0 || !A->diagonal().allFinite()) return false;
  A->triangularView<Eigen::StrictlyUpper>().setZero();
  return true;
}

void InvertLowerInPlace(Matrix* L) {
  const int n = static_cast<int>(L->rows());
  int info = 0;
  if (n > 0) dtrtri_("U", "N", &n, L->data(), &n, &info);
  FATHOM_CHECK(info == 0);
}

double LogDeterminant(const Matrix& L) { return 2 * L.diagonal().array().log().sum(); }

Matrix CholeskyBackward(const Matrix& L_inverse, const Matrix& phi_argument) {
  Matrix P = phi_argument.triangularView<Eigen::Lower>();
  P.diagonal() *= 0.5;
  Matrix right = P * L_inverse.triangularView<Eigen::Lower>();
  Matrix dA = L_inverse.transpose().triangularView<Eigen::Upper>() * right;
  return Symmetrized(dA);
}

Matrix Symmetrized(const Matrix& A) { return 0.5 * (A + A.transpose()); }

}  // namespace fathom
