#include "fathom/base/linalg.h"

#include <algorithm>
#include <cmath>

#include "fathom/base/error.h"

// Eigen itself declares the functions of BLAS.
extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dtrtri_(const char* uplo, const char* diag, const int* n, double* a, const int* lda,
             int* info);
void dgeqrf_(const int* m, const int* n, double* a, const int* lda, double* tau, double* work,
             const int* lwork, int* info);
void dorgqr_(const int* m, const int* n, const int* k, double* a, const int* lda, const double* tau,
             double* work, const int* lwork, int* info);
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

// A block of a factor or of the result.
template <typename Pointer>
struct Part {
  Pointer data;
  int rows, cols;  // after the transposition
  int stride;
  Triangle triangle = Triangle::kWhole;
  bool transposed = false;

  // Block (i, j) of the cut in halves, `half` rows and columns in the first.
  Part Half(int i, int j, int half) const {
    const int down = transposed ? j : i;
    const int right = transposed ? i : j;
    const auto size = [half](int n, int k) { return k == 0 ? std::min(n, half) : n - half; };
    const auto offset = (static_cast<std::ptrdiff_t>(down) * stride + right) * half;
    return {
        data + offset, size(rows, i), size(cols, j), stride, i == j ? triangle : Triangle::kWhole,
        transposed};
  }
  // Whether there is nothing in block (i, j) to read or to write.
  bool Absent(int i, int j, int half) const {
    const Part block = Half(i, j, half);
    return block.rows <= 0 || block.cols <= 0 || (triangle == Triangle::kLower && i < j) ||
           (triangle == Triangle::kUpper && i > j);
  }
};

// C = alpha A B + beta C.
void MultiplyPart(double alpha, const Part<const double*>& A, const Part<const double*>& B,
                  double beta, const Part<double*>& C) {
  constexpr int kLeast = 48;  // below it, cutting costs more than it saves
  const int depth = A.cols;
  const int longest = std::max({C.rows, C.cols, depth});
  const bool whole = A.triangle == Triangle::kWhole && B.triangle == Triangle::kWhole &&
                     C.triangle == Triangle::kWhole;
  if (whole || longest <= kLeast) {
    // BLAS thinks column by column and sees all transposed: C' = B' A'.
    dgemm_(B.transposed ? "T" : "N", A.transposed ? "T" : "N", &C.cols, &C.rows, &depth, &alpha,
           B.data, &B.stride, A.data, &A.stride, &beta, C.data, &C.stride);
    return;
  }
  // All are cut at the same place, so that triangles on the diagonal stay triangles.
  const int half = (longest / 2 + 7) / 8 * 8;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      if (C.Absent(i, j, half)) continue;
      const Part<double*> block = C.Half(i, j, half);
      double keep = beta;
      for (int k = 0; k < 2; ++k) {
        if (A.Absent(i, k, half) || B.Absent(k, j, half)) continue;
        MultiplyPart(alpha, A.Half(i, k, half), B.Half(k, j, half), keep, block);
        keep = 1;
      }
      if (keep == 0) {  // nothing but zeros met here
        for (int row = 0; row < block.rows; ++row)
          std::fill_n(block.data + row * block.stride, block.cols, 0.0);
      }
    }
  }
}

Part<const double*> Whole(const Factor& factor) {
  return {factor.matrix.data(),
          static_cast<int>(factor.rows()),
          static_cast<int>(factor.cols()),
          static_cast<int>(factor.matrix.cols()),
          factor.triangle,
          factor.transposed};
}

}  // namespace

void Multiply(const Factor& A, const Factor& B, Triangle wanted, Matrix* C) {
  const Index depth = A.cols();
  FATHOM_CHECK(B.rows() == depth && C != &A.matrix && C != &B.matrix);
  FATHOM_CHECK(A.triangle == Triangle::kWhole || A.rows() == depth);
  FATHOM_CHECK(B.triangle == Triangle::kWhole || B.cols() == depth);
  FATHOM_CHECK(wanted == Triangle::kWhole || A.rows() == B.cols());
  C->resize(A.rows(), B.cols());
  if (depth == 0) C->setZero();
  if (C->size() == 0 || depth == 0) return;
  const auto cols = static_cast<int>(C->cols());
  MultiplyPart(1, Whole(A), Whole(B), 0,
               {C->data(), static_cast<int>(C->rows()), cols, cols, wanted});
}

Vector LowerTimes(const Matrix& L, const Vector& x) {
  const int n = static_cast<int>(L.rows());
  const int one = 1;
  Vector out = x;
  if (n > 0) dtrmv_("U", "T", "N", &n, L.data(), &n, out.data(), &one);
  return out;
}

Matrix Product(const Factor& A, const Factor& B) {
  Matrix C;
  Multiply(A, B, Triangle::kWhole, &C);
  return C;
}

void SetProduct(const MatrixPart& A, const MatrixPart& B, MutablePart C) { C.noalias() = A * B; }

void SetTimesTransposed(const MatrixPart& A, const MatrixPart& B, MutablePart C) {
  C.noalias() = A * B.transpose();
}

void SetTransposedTimes(const MatrixPart& A, const MatrixPart& B, MutablePart C) {
  C.noalias() = A.transpose() * B;
}

void AddTransposedTimes(const MatrixPart& A, const MatrixPart& B, MutablePart C) {
  C.noalias() += A.transpose() * B;
}

namespace {

using Block = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;

constexpr Index kBaseSize = 32;

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
                                 scratch)) {
    return false;
  }
  // [A11  .  ]   [L11    ] [L11' L21']        [L11^-1                    .   ]
  // [A21  A22] = [L21 L22] [     L22'],  L^-1 = [-L22^-1 L21 L11^-1   L22^-1]
  const auto stride = static_cast<int>(A.outerStride());
  const auto i1 = static_cast<int>(top);
  const auto i2 = static_cast<int>(rest);
  double* const A21 = A.data() + top * stride;
  double* const inverse1 = L_inverse.data();
  double* const inverse21 = inverse1 + top * stride;
  double* const moved = scratch->data();  // [rest, top]
  using In = Part<const double*>;
  using Out = Part<double*>;
  MultiplyPart(1, In{A21, i2, i1, stride}, In{inverse1, i1, i1, stride, Triangle::kUpper, true}, 0,
               Out{moved, i2, i1, i1});
  A.bottomLeftCorner(rest, top) = Eigen::Map<const Matrix>(moved, rest, top);
  MultiplyPart(-1, In{A21, i2, i1, stride}, In{A21, i1, i2, stride, Triangle::kWhole, true}, 1,
               Out{A21 + top, i2, i2, stride, Triangle::kLower});
  if (!CholeskyWithInverseHalves(A.bottomRightCorner(rest, rest),
                                 L_inverse.bottomRightCorner(rest, rest), scratch)) {
    return false;
  }
  MultiplyPart(1, In{A21, i2, i1, stride}, In{inverse1, i1, i1, stride, Triangle::kLower}, 0,
               Out{moved, i2, i1, i1});
  MultiplyPart(-1, In{inverse21 + top, i2, i2, stride, Triangle::kLower}, In{moved, i2, i1, i1}, 0,
               Out{inverse21, i2, i1, stride});
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

void MirrorLower(Matrix* A) {
  for (Index i = 0; i < A->rows(); ++i) {
    for (Index j = 0; j < i; ++j) (*A)(j, i) = (*A)(i, j);
  }
}

void TransposeTimesSelf(const Matrix& L, Matrix* out) {
  Multiply({L, Triangle::kUpper, true}, {L, Triangle::kLower}, Triangle::kLower, out);
  MirrorLower(out);
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
  Multiply({P, Triangle::kLower}, {L_inverse, Triangle::kLower}, Triangle::kLower, scratch);
  scratch->triangularView<Eigen::StrictlyUpper>().setZero();
  Multiply({L_inverse, Triangle::kUpper, true}, {*scratch, Triangle::kLower}, Triangle::kWhole, &P);
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

Matrix OrthonormalColumns(const Matrix& A) {
  FATHOM_CHECK(A.cols() <= A.rows());
  Eigen::MatrixXd Q = A;
  const int rows = static_cast<int>(A.rows());
  const int cols = static_cast<int>(A.cols());
  if (cols == 0) return Q;
  Vector tau(cols);
  Vector work(cols);
  int info = 0;
  dgeqrf_(&rows, &cols, Q.data(), &rows, tau.data(), work.data(), &cols, &info);
  dorgqr_(&rows, &cols, &cols, Q.data(), &rows, tau.data(), work.data(), &cols, &info);
  return Q;
}

Matrix Symmetrized(const Matrix& A) {
  Matrix out = A;
  SymmetrizeInPlace(&out);
  return out;
}

}  // namespace fathom
