#include "tests/support/symmetric.h"

#include "tests/support/dense.h"

namespace fathom {

Vector LowerTriangle(const Matrix& A) {
  Vector out(A.rows() * (A.rows() + 1) / 2);
  Index k = 0;
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index j = 0; j <= i; ++j) out[k++] = A(i, j);
  }
  return out;
}

Matrix LowerFrom(const Vector& values, Index n) {
  Matrix A = Matrix::Zero(n, n);
  Index k = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) A(i, j) = values[k++];
  }
  return A;
}

Matrix SymmetricFrom(const Vector& values, Index n) {
  const Matrix lower = LowerFrom(values, n);
  Matrix A = lower + lower.transpose();
  A.diagonal() *= 0.5;
  return A;
}

Vector SymmetricSlope(const Matrix& dA) {
  Matrix sum = dA + dA.transpose();
  sum.diagonal() *= 0.5;
  return LowerTriangle(sum);
}

Conditioned TextbookConditioned(const Matrix& K, const Vector& m, const Matrix& V) {
  const Matrix K_inverse = Inverse(K);
  Conditioned out;
  out.a = Apply(K_inverse, m);
  out.S = K_inverse - Times(K_inverse, V, K_inverse);
  out.phi =
      0.5 * LogDeterminantOf(V) + 0.5 * m.dot(Apply(Inverse(V), m)) - 0.5 * LogDeterminantOf(K);
  return out;
}

double TextbookNegativeKl(const Matrix& K, const Vector& m, const Matrix& V) {
  const Matrix K_inverse = Inverse(K);
  return -0.5 * (Times(K_inverse, V).trace() + m.dot(Apply(K_inverse, m)) -
                 static_cast<double>(m.size()) + LogDeterminantOf(K) - LogDeterminantOf(V));
}

}  // namespace fathom
