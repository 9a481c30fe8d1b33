#include "bnn/thin_products.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "fathom/base/random.h"
#include "tests/support/simd_targets.h"

namespace fathom::bnn {
namespace {

// Rows, units and columns that leave every kind of rest behind whole vectors and blocks.
class ThinProductsOf : public testing::TestWithParam<std::tuple<Index, Index, Index>> {
 protected:
  Index rows() const { return std::get<0>(GetParam()); }
  Index units() const { return std::get<1>(GetParam()); }
  Index cols() const { return std::get<2>(GetParam()); }

  RandomStream stream_{5};
};

INSTANTIATE_TEST_SUITE_P(
    Shapes, ThinProductsOf,
    testing::Combine(testing::Values(1, 7, 8, 67), testing::Values(1, 7, 8, 13, 50),
                     testing::Values(1, 2, 11, 12, 13, 25, kMostThinCols, kMostThinCols + 1)));

TEST_P(ThinProductsOf, AreThoseOfEigenInPartsOfMatrices) {
  // The matrices end in columns that belong to others.
  const Matrix A = stream_.NormalMatrix(rows(), cols() + 2);
  const Matrix B = stream_.NormalMatrix(units(), cols() + 1);
  const Matrix D = stream_.NormalMatrix(rows(), units() + 3);
  const Matrix product = A.leftCols(cols()) * B.leftCols(cols()).transpose();
  const Matrix outer = D.leftCols(units()).transpose() * A.leftCols(cols());
  ForEachSimdTarget([&] {
    Matrix C = Matrix::Constant(rows(), units() + 1, 7);
    TimesTransposed(A.leftCols(cols()), B.leftCols(cols()), C.leftCols(units()));
    EXPECT_LT((C.leftCols(units()) - product).cwiseAbs().maxCoeff(), 1e-13);
    EXPECT_EQ(C.col(units()), Vector::Constant(rows(), 7));
    Matrix sums = Matrix::Constant(units(), cols() + 1, 3);
    AddOuterProducts(D.leftCols(units()), A.leftCols(cols()), sums.leftCols(cols()));
    EXPECT_LT((sums.leftCols(cols()).array() - 3 - outer.array()).abs().maxCoeff(), 1e-12);
    EXPECT_EQ(sums.col(cols()), Vector::Constant(units(), 3));
  });
}

TEST(ThinProducts, NaNStaysInItsRowAndReachesEverySumOverRows) {
  RandomStream stream(5);
  Matrix A = stream.NormalMatrix(9, 4);
  A(8, 3) = std::numeric_limits<double>::quiet_NaN();
  const Matrix B = stream.NormalMatrix(10, 4);
  ForEachSimdTarget([&] {
    Matrix C(9, 10);
    TimesTransposed(A, B, C);
    EXPECT_TRUE(C.topRows(8).allFinite());
    EXPECT_TRUE(C.row(8).array().isNaN().all());
    Matrix sums = Matrix::Zero(10, 4);
    AddOuterProducts(Matrix::Ones(9, 10), A, sums);
    EXPECT_TRUE(sums.leftCols(3).allFinite());
    EXPECT_TRUE(sums.col(3).array().isNaN().all());
  });
}

TEST(ThinProducts, BitsOfARowDoNotDependOnTheRowsBesideIt) {
  RandomStream stream(5);
  const Matrix A = stream.NormalMatrix(21, 6);
  const Matrix B = stream.NormalMatrix(13, 6);
  ForEachSimdTarget([&] {
    Matrix all(21, 13);
    TimesTransposed(A, B, all);
    for (Index n = 0; n < 21; ++n) {
      Matrix alone(1, 13);
      TimesTransposed(A.row(n), B, alone);
      EXPECT_EQ(alone, all.row(n)) << "row " << n;
    }
  });
}

}  // namespace
}  // namespace fathom::bnn
