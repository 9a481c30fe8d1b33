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

// Overwrites the lower triangular L with the whole symmetric L'L.
void TransposeTimesSelf(Matrix* L);

// log |L L'| of a lower triangular L with positive diagonal.
double LogDeterminant(const Matrix& L);

// Gradient through A = L L'. With P the lower triangle of L' dL, its diagonal halved:
//   dA = sym(L^-T P L^-1)                                                       [cholesky-backward]
// `phi_argument` is L' dL (only its lower triangle is used), `L_inverse` is L^-1.
Matrix CholeskyBackward(const Matrix& L_inverse, const Matrix& phi_argument);
// The same in memory of the caller: *phi_argument becomes dA, *scratch is used on the way.
void CholeskyBackwardInPlace(const Matrix& L_inverse, Matrix* phi_argument, Matrix* scratch);

// (A + A') / 2.
Matrix Symmetrized(const Matrix& A);
void SymmetrizeInPlace(Matrix* A);

}  // namespace fathom

#endif  // FATHOM_BASE_LINALG_H_
