// Symmetric matrices as vectors of their lower triangle, and textbook quantities of Gaussians.
#ifndef FATHOM_TESTS_SUPPORT_SYMMETRIC_H_
#define FATHOM_TESTS_SUPPORT_SYMMETRIC_H_

#include "fathom/base/types.h"
#include "fathom/model/conditioned.h"

namespace fathom {

Vector LowerTriangle(const Matrix& A);
Matrix LowerFrom(const Vector& values, Index n);
Matrix SymmetricFrom(const Vector& values, Index n);
// The slope of a symmetric matrix's lower triangle when its twin above moves along.
Vector SymmetricSlope(const Matrix& dA);

// a, S and phi of u ~ N(m, V) under the prior N(0, K), by explicit inverses.
Conditioned TextbookConditioned(const Matrix& K, const Vector& m, const Matrix& V);
// -KL(N(m, V) || N(0, K)).
double TextbookNegativeKl(const Matrix& K, const Vector& m, const Matrix& V);

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_SYMMETRIC_H_
