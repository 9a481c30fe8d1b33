// Symmetric matrices as vectors of their lower triangle, and textbook quantities of Gaussians.
#ifndef FATHOM_TESTS_SUPPORT_SYMMETRIC_H_
#define FATHOM_TESTS_SUPPORT_SYMMETRIC_H_

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "fathom/base/types.h"
#include "fathom/model/conditioned.h"

namespace fathom {

inline Vector LowerTriangle(const Matrix& A) {
  Vector out(A.rows() * (A.rows() + 1) / 2);
  Index k = 0;
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index j = 0; j <= i; ++j) out[k++] = A(i, j);
  }
  return out;
}

inline Matrix LowerFrom(const Vector& values, Index n) {
  Matrix A = Matrix::Zero(n, n);
  Index k = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) A(i, j) = values[k++];
  }
  return A;
}

inline Matrix SymmetricFrom(const Vector& values, Index n) {
  const Matrix lower = LowerFrom(values, n);
  Matrix A = lower + lower.transpose();
  A.diagonal() *= 0.5;
  return A;
}

// The slope of a symmetric matrix's lower triangle when its twin above moves along.
inline Vector SymmetricSlope(const Matrix& dA) {
  Matrix sum = dA + dA.transpose();
  sum.diagonal() *= 0.5;
  return LowerTriangle(sum);
}

inline double LogDeterminantOf(const Matrix& A) {
  return 2 * Matrix(A.llt().matrixL()).diagonal().array().log().sum();
}

// a, S and phi of u ~ N(m, V) under the prior N(0, K), by explicit inverses.
inline Conditioned TextbookConditioned(const Matrix& K, const Vector& m, const Matrix& V) {
  const Matrix K_inverse = K.inverse();
  Conditioned out;
  out.a = K_inverse * m;
  out.S = K_inverse - K_inverse * V * K_inverse;
  out.phi = 0.5 * LogDeterminantOf(V) + 0.5 * m.dot(V.inverse() * m) - 0.5 * LogDeterminantOf(K);
  return out;
}

// -KL(N(m, V) || N(0, K)).
inline double TextbookNegativeKl(const Matrix& K, const Vector& m, const Matrix& V) {
  const Matrix K_inverse = K.inverse();
  return -0.5 * ((K_inverse * V).trace() + m.dot(K_inverse * m) - static_cast<double>(m.size()) +
                 LogDeterminantOf(K) - LogDeterminantOf(V));
}

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_SYMMETRIC_H_
