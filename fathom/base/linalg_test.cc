#include "fathom/base/linalg.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "fathom/base/error.h"
#include "tests/support/gradient.h"
#include "tests/support/random_model.h"

namespace fathom {
namespace {

Matrix RandomPositiveDefinite(Index n, RandomStream* stream) {
  const Matrix A = stream->NormalMatrix(n, n);
  Matrix positive = A * A.transpose();
  positive.diagonal().array() += 1;
  return positive;
}

class LinalgOfSize : public testing::TestWithParam<Index> {};
INSTANTIATE_TEST_SUITE_P(Sizes, LinalgOfSize, testing::Values(1, 2, 3, 7, 8, 33, 130));

TEST_P(LinalgOfSize, CholeskyIsAFactorWithZerosAbove) {
  RandomStream stream(1);
  const Matrix A = RandomPositiveDefinite(GetParam(), &stream);
  Matrix L = A;
  ASSERT_TRUE(CholeskyInPlace(&L));
  EXPECT_LT((L * L.transpose() - A).cwiseAbs().maxCoeff(), 1e-12 * A.cwiseAbs().maxCoeff());
  EXPECT_TRUE((L.diagonal().array() > 0).all());
  for (Index i = 0; i < L.rows(); ++i) {
    for (Index j = i + 1; j < L.cols(); ++j) EXPECT_EQ(L(i, j), 0);
  }
}

TEST_P(LinalgOfSize, CholeskyReadsTheLowerTriangleOnly) {
  RandomStream stream(2);
  const Matrix A = RandomPositiveDefinite(GetParam(), &stream);
  Matrix L = A;
  Matrix spoilt = A;
  spoilt.triangularView<Eigen::StrictlyUpper>().setConstant(1e9);
  ASSERT_TRUE(CholeskyInPlace(&L));
  ASSERT_TRUE(CholeskyInPlace(&spoilt));
  EXPECT_EQ(L, spoilt);
}

TEST_P(LinalgOfSize, InverseAndDeterminant) {
  RandomStream stream(3);
  const Matrix A = RandomPositiveDefinite(GetParam(), &stream);
  Matrix L = A;
  ASSERT_TRUE(CholeskyInPlace(&L));
  Matrix inverse = L;
  InvertLowerInPlace(&inverse);
  const Matrix identity = Matrix::Identity(A.rows(), A.rows());
  EXPECT_LT((L * inverse - identity).cwiseAbs().maxCoeff(), 1e-11);
  const double log_determinant =
      Eigen::FullPivLU<Matrix>(A).matrixLU().diagonal().array().abs().log().sum();
  EXPECT_NEAR(LogDeterminant(L), log_determinant, 1e-10 * std::max(1.0, std::abs(log_determinant)));
}

TEST(Linalg, CholeskyRefusesWhatIsNotPositiveDefinite) {
  Matrix indefinite(2, 2);
  indefinite << 1, 2, 2, 1;
  EXPECT_FALSE(CholeskyInPlace(&indefinite));
  Matrix singular = Matrix::Ones(3, 3);
  EXPECT_FALSE(CholeskyInPlace(&singular));
  for (const Index at : {0, 1, 2}) {
    Matrix broken = Matrix::Identity(3, 3);
    broken(2, at) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(CholeskyInPlace(&broken)) << at;
  }
  Matrix empty(0, 0);
  EXPECT_TRUE(CholeskyInPlace(&empty));
}

TEST(Linalg, SingularTriangleIsNotInvertedSilently) {
  Matrix L = Matrix::Identity(3, 3);
  L(1, 1) = 0;
  EXPECT_THROW(InvertLowerInPlace(&L), InternalError);
}

TEST(Linalg, CholeskyBackward) {
  RandomStream stream(4);
  const Index n = 5;
  const Matrix A = RandomPositiveDefinite(n, &stream);
  const Matrix weights = stream.NormalMatrix(n, n).triangularView<Eigen::Lower>();
  // F = <weights, L(A)>, A moved symmetrically.
  const auto move = [&](const Vector& x) {
    Matrix moved(n, n);
    Index k = 0;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j <= i; ++j) {
        moved(i, j) = x[k];
        moved(j, i) = x[k++];
      }
    }
    return moved;
  };
  Vector point(n * (n + 1) / 2);
  Matrix L = A;
  ASSERT_TRUE(CholeskyInPlace(&L));
  Matrix L_inverse = L;
  InvertLowerInPlace(&L_inverse);
  const Matrix dA = CholeskyBackward(L_inverse, L.transpose() * weights);
  EXPECT_EQ(dA, Matrix(dA.transpose()));
  Vector gradient(point.size());
  Index k = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j, ++k) {
      point[k] = A(i, j);
      gradient[k] = (i == j ? 1 : 2) * dA(i, j);
    }
  }
  const auto value = [&](const Vector& x) {
    Matrix factor = move(x);
    EXPECT_TRUE(CholeskyInPlace(&factor));
    return factor.cwiseProduct(weights).sum();
  };
  ExpectGradientMatches(value, gradient, point, 1e-8);
}

TEST(Linalg, Symmetrized) {
  Matrix A(2, 2);
  A << 1, 4, 2, 3;
  Matrix expected(2, 2);
  expected << 1, 3, 3, 3;
  EXPECT_EQ(Symmetrized(A), expected);
}

Matrix TriangleOf(const Matrix& A, Triangle triangle) {
  if (triangle == Triangle::kLower) return A.triangularView<Eigen::Lower>();
  if (triangle == Triangle::kUpper) return A.triangularView<Eigen::Upper>();
  return A;
}

// Sizes around the cuts, every kind of factor and result, against the plain product.
TEST(Linalg, MultiplyIsThePlainProduct) {
  RandomStream stream(21);
  const std::vector<Triangle> kinds = {Triangle::kWhole, Triangle::kLower, Triangle::kUpper};
  for (const Index n : {0, 1, 7, 48, 49, 56, 57, 100, 113, 250}) {
    for (const Triangle a : kinds) {
      for (const Triangle b : kinds) {
        for (const Triangle wanted : kinds) {
          for (const bool transposed : {false, true}) {
            const Matrix A = TriangleOf(stream.NormalMatrix(n, n), a);
            const Matrix B = TriangleOf(stream.NormalMatrix(n, n), b);
            const Matrix A_stored = transposed ? Matrix(A.transpose()) : A;
            const Matrix B_stored = transposed ? Matrix(B.transpose()) : B;
            Matrix C = Matrix::Constant(n, n, 1e30);
            Multiply({A_stored, a, transposed}, {B_stored, b, transposed}, wanted, &C);
            const Matrix error = TriangleOf(C - A * B, wanted);
            EXPECT_LE(n > 0 ? error.cwiseAbs().maxCoeff() : 0.0, 1e-12 * static_cast<double>(n + 1))
                << n;
          }
        }
      }
    }
  }
}

// Rows, columns and depth on different sides of the cuts; a triangle is square and on either side.
TEST(Linalg, ProductOfAnyShapeIsThePlainProduct) {
  RandomStream stream(22);
  for (const auto& [rows, depth, cols] :
       {std::array<Index, 3>{3, 0, 2}, {1, 1, 9}, {300, 5, 60}, {7, 60, 130}, {130, 49, 1}}) {
    const Matrix A = stream.NormalMatrix(rows, depth);
    const Matrix B = stream.NormalMatrix(depth, cols);
    EXPECT_LE((Product({A}, {B}) - A * B).norm(), 1e-10);
    EXPECT_LE((Product(Transposed(B), Transposed(A)) - (A * B).transpose()).norm(), 1e-10);
    const Matrix L = TriangleOf(stream.NormalMatrix(depth, depth), Triangle::kLower);
    EXPECT_LE((Product({A}, Lower(L)) - A * L).norm(), 1e-10);
    EXPECT_LE((Product(LowerTransposed(L), {B}) - L.transpose() * B).norm(), 1e-10);
    const Vector x = stream.NormalMatrix(depth, 1);
    EXPECT_LE((LowerTimes(L, x) - L * x).norm(), 1e-10);
  }
}

TEST(Linalg, OrthonormalColumnsSpanTheColumnsAndMore) {
  RandomStream stream(23);
  Matrix A = stream.NormalMatrix(9, 4);
  const Matrix Q = OrthonormalColumns(A);
  EXPECT_LE((Q.transpose() * Q - Matrix::Identity(4, 4)).norm(), 1e-12);
  EXPECT_LE((A - Q * (Q.transpose() * A)).norm(), 1e-12);
  A.col(2) = A.col(0) - 2 * A.col(1);  // and still four columns, all of length 1
  A.col(3).setZero();
  const Matrix more = OrthonormalColumns(A);
  EXPECT_LE((more.transpose() * more - Matrix::Identity(4, 4)).norm(), 1e-12);
  EXPECT_LE((A - more * (more.transpose() * A)).norm(), 1e-12);
}

}  // namespace
}  // namespace fathom
