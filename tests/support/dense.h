// Dense algebra for the textbook side of tests, by explicit inverses. It is compiled once:
// expressions of Eigen say the same, but the compiler takes up to two seconds for each.
#ifndef FATHOM_TESTS_SUPPORT_DENSE_H_
#define FATHOM_TESTS_SUPPORT_DENSE_H_

#include "fathom/base/types.h"

namespace fathom {

// A B, and A B C from the left.
Matrix Times(const Matrix& A, const Matrix& B);
Matrix Times(const Matrix& A, const Matrix& B, const Matrix& C);
Matrix TimesTransposed(const Matrix& A, const Matrix& B);  // A B'
Matrix TransposedTimes(const Matrix& A, const Matrix& B);  // A' B
Vector Apply(const Matrix& A, const Vector& x);            // A x
Matrix SelfProduct(const Matrix& A);                       // A A'

Matrix Inverse(const Matrix& A);
double Determinant(const Matrix& A);
Matrix CholeskyFactor(const Matrix& A);  // L of A = L L'
double LogDeterminantOf(const Matrix& A);

// The largest |a - b|. NaN if there is one.
double Distance(const Matrix& A, const Matrix& B);
double Distance(const Vector& a, const Vector& b);

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_DENSE_H_
