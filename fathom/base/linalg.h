// The few dense factorisations that the model needs, on row-major matrices, by (serial) LAPACK.
#ifndef FATHOM_BASE_LINALG_H_
#define FATHOM_BASE_LINALG_H_

#include "fathom/base/types.h"

namespace fathom {

// A = L L': overwrites A with L, zeros above the diagonal. Reads the lower triangle. False if A is
// not positive definite (or holds NaN); A is then undefined.
bool CholeskyInPlace(Matrix* A);

// The same, and L^-1 with it, zeros above the diagonal. By halves, so that almost all of the work
// is matrix products: at M = 100 LAPACK's dpotrf and dtrtri take 93 us, this 50 (one core).
bool CholeskyWithInverse(Matrix* A, Matrix* L_inverse, Matrix* scratch);

// Overwrites the lower triangular L with its inverse. L must have no zero on the diagonal.
void InvertLowerInPlace(Matrix* L);

// The whole symmetric L'L of a lower triangular L. At M = 100 21 us where LAPACK's dlauum takes 29.
void TransposeTimesSelf(const Matrix& L, Matrix* out);

// Which triangle of a matrix counts. In a factor the other triangle holds zeros; in a result
// it is undefined.
enum class Triangle { kWhole, kLower, kUpper };
struct Factor {
  const Matrix& matrix;
  Triangle triangle = Triangle::kWhole;
  bool transposed = false;  // of the matrix; `triangle` is that of the factor, after transposition

  Index rows() const { return transposed ? matrix.cols() : matrix.rows(); }
  Index cols() const { return transposed ? matrix.rows() : matrix.cols(); }
};
inline Factor Transposed(const Matrix& A) { return {A, Triangle::kWhole, true}; }
inline Factor Lower(const Matrix& L) { return {L, Triangle::kLower}; }
inline Factor LowerTransposed(const Matrix& L) { return {L, Triangle::kUpper, true}; }

// C = A B, by halves that leave out the blocks known to be zero or not needed. A factor that is not
// square is whole. BLAS's own triangular products (dtrmm, dsyrk) save as many operations but, at
// M = 100, no time. *C must be neither factor.
void Multiply(const Factor& A, const Factor& B, Triangle wanted, Matrix* C);
// Expressions of Eigen say the same, but the compiler takes up to a second for each.
Matrix Product(const Factor& A, const Factor& B);
Vector LowerTimes(const Matrix& L, const Vector& x);
// The same for parts of matrices: C = A B, C = A B', C = A' B and C += A' B.
using MatrixPart = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;
using MutablePart = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;
void SetProduct(const MatrixPart& A, const MatrixPart& B, MutablePart C);
void SetTimesTransposed(const MatrixPart& A, const MatrixPart& B, MutablePart C);
void SetTransposedTimes(const MatrixPart& A, const MatrixPart& B, MutablePart C);
void AddTransposedTimes(const MatrixPart& A, const MatrixPart& B, MutablePart C);

// Copies the lower triangle to the upper one.
void MirrorLower(Matrix* A);

// log |L L'| of a lower triangular L with positive diagonal.
double LogDeterminant(const Matrix& L);

// Gradient through A = L L'. With P the lower triangle of L' dL, its diagonal halved:
//   dA = sym(L^-T P L^-1)                                                       [cholesky-backward]
// `phi_argument` is L' dL (only its lower triangle is used), `L_inverse` is L^-1.
Matrix CholeskyBackward(const Matrix& L_inverse, const Matrix& phi_argument);
// The same in memory of the caller: *phi_argument becomes dA, *scratch is used on the way.
void CholeskyBackwardInPlace(const Matrix& L_inverse, Matrix* phi_argument, Matrix* scratch);

// Eigenvalues of a symmetric matrix in ascending order, and its eigenvectors as columns. Reads the
// lower triangle. Throws NumericalError if they cannot be found (A holds NaN).
struct Eigensystem {
  Vector values;
  Matrix vectors;
};
Eigensystem SymmetricEigensystem(const Matrix& A);

// Orthonormal columns that span what the columns of A span (A has no more columns than rows), or
// more if those are dependent.
Matrix OrthonormalColumns(const Matrix& A);

// A^-1 b of a positive definite A.
Vector SolvePositiveDefinite(const Matrix& A, const Vector& b);

// (A + A') / 2.
Matrix Symmetrized(const Matrix& A);
void SymmetrizeInPlace(Matrix* A);

}  // namespace fathom

#endif  // FATHOM_BASE_LINALG_H_
