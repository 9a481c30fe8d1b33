#include "fathom/base/linalg.h"

#include <cmath>

#include "fathom/base/error.h"

extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dlauum_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dtrtri_(const char* uplo, const char* diag, const int* n, double* a, const int* lda,
             int* info);
}

namespace fathom {

bool CholeskyInPlace(Matrix* A) {
  FATHOM_CHECK(A->rows() == A->cols());
  const int n = static_cast<int>(A->rows());
  int info = 0;
  // LAPACK sees a column-major matrix, so that our lower triangle is its upper one.
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

namespace {

using Block = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;

constexpr Index kBaseSize = 24;

// Small factors by plain loops over contiguous rows. A holds the lower triangle; U = L' is built in
// a local array whose rows the compiler can vectorise over.
bool CholeskyWithInverseBase(Block A, Block L_inverse) {
  const Index n = A.rows();
  double U[kBaseSize][kBaseSize];
  for (Index i = 0; i < n; ++i) {
    for (Index j = i; j < n; ++j) U[i][j] = A(j, i);
  }
  for (Index k = 0; k < n; ++k) {
    if (!(U[k][k] > 0)) return false;
    const double pivot = std::sqrt(U[k][k]);
    const double inverse = 1 / pivot;
    U[k][k] = pivot;
    for (Index j = k + 1; j < n; ++j) U[k][j] *= inverse;
    for (Index i = k + 1; i < n; ++i) {
      const double factor = U[k][i];
      for (Index j = i; j < n; ++j) U[i][j] -= factor * U[k][j];
    }
  }
  for (Index i = 0; i < n; ++i) {
    double row[kBaseSize] = {};
    for (Index k = 0; k < i; ++k) {
      const double factor = U[k][i];
      for (Index j = 0; j <= k; ++j) row[j] -= factor * L_inverse(k, j);
    }
    const double inverse = 1 / U[i][i];
    for (Index j = 0; j < i; ++j) {
      L_inverse(i, j) = inverse * row[j];
      A(i, j) = U[j][i];
    }
    L_inverse(i, i) = inverse;
    A(i, i) = U[i][i];
  }
  return true;
}

bool CholeskyWithInverseHalves(Block A, Block L_inverse, Matrix* scratch) {
  const Index n = A.rows();
  if (n <= kBaseSize) return CholeskyWithInverseBase(A, L_inverse);
  const Index top = n / 2;
  const Index rest = n - top;
  if (!CholeskyWithInverseHalves(A.topLeftCorner(top, top), L_inverse.topLeftCorner(top, top),
                                 scratch))
    return false;
  auto L21 = A.bottomLeftCorner(rest, top);
  auto moved = scratch->topLeftCorner(rest, top);
  moved.noalias() = L21 * L_inverse.topLeftCorner(top, top).transpose();
  L21 = moved;
  A.bottomRightCorner(rest, rest).noalias() -= L21 * L21.transpose();
  if (!CholeskyWithInverseHalves(A.bottomRightCorner(rest, rest),
                                 L_inverse.bottomRightCorner(rest, rest), scratch)) {
    return false;
  }
  moved.noalias() = L21 * L_inverse.topLeftCorner(top, top);
  // From zero, since a minus sign before the product would cost a temporary.
  L_inverse.bottomLeftCorner(rest, top).noalias() -=
      L_inverse.bottomRightCorner(rest, rest) * moved;
  return true;
}

}  // namespace

bool CholeskyWithInverse(Matrix* A, Matrix* L_inverse, Matrix* scratch) {
  FATHOM_CHECK(A->rows() == A->cols());
  const Index n = A->rows();
  scratch->resize(n, n);
  L_inverse->setZero(n, n);
  if (!CholeskyWithInverseHalves(*A, *L_inverse, scratch) || !A->diagonal().allFinite())
    return false;
  A->triangularView<Eigen::StrictlyUpper>().setZero();
  return true;
}

void TransposeTimesSelf(Matrix* L) {
  const int n = static_cast<int>(L->rows());
  int info = 0;
  if (n > 0) dlauum_("U", &n, L->data(), &n, &info);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j) (*L)(j, i) = (*L)(i, j);
  }
}

double LogDeterminant(const Matrix& L) { return 2 * L.diagonal().array().log().sum(); }

Matrix CholeskyBackward(const Matrix& L_inverse, const Matrix& phi_argument) {
  Matrix P = phi_argument;
  Matrix scratch;
  CholeskyBackwardInPlace(L_inverse, &P, &scratch);
  return P;
}

void CholeskyBackwardInPlace(const Matrix& L_inverse, Matrix* phi_argument, Matrix* scratch) {
  Matrix& P = *phi_argument;
  P.triangularView<Eigen::StrictlyUpper>().setZero();
  P.diagonal() *= 0.5;
  scratch->resize(P.rows(), P.cols());
  scratch->noalias() = P * L_inverse;
  P.noalias() = L_inverse.transpose() * *scratch;
  SymmetrizeInPlace(&P);
}

void SymmetrizeInPlace(Matrix* A) {
  for (Index i = 0; i < A->rows(); ++i) {
    for (Index j = 0; j < i; ++j) {
      const double mean = 0.5 * ((*A)(i, j) + (*A)(j, i));
      (*A)(i, j) = mean;
      (*A)(j, i) = mean;
    }
  }
}

Matrix Symmetrized(const Matrix& A) {
  Matrix out = A;
  SymmetrizeInPlace(&out);
  return out;
}

}  // namespace fathom
