#include "study/ranks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/test_folder.h"

namespace fathom {
namespace {

TEST(Ranks, TiesShareTheMeanOfTheirRanks) {
  const Matrix scores = (Matrix(3, 4) << 0.1, 0.4, 0.4, 0.2,  //
                         5, 5, 5, 5,                          //
                         -INFINITY, 2, 1, 3)
                            .finished();
  const Matrix expected = (Matrix(3, 4) << 4, 1.5, 1.5, 3,  //
                           2.5, 2.5, 2.5, 2.5,              //
                           4, 2, 3, 1)
                              .finished();
  EXPECT_EQ(RankRows(scores, true), expected);
  EXPECT_EQ(RankRows(-scores, false), expected);
  EXPECT_NE(ErrorOf([] { RankRows(Matrix::Constant(1, 2, NAN), true); }).find("NaN"),
            std::string::npos);
}

// The worked example of Demšar (2006), table 6: area under the curve of four variants of C4.5 on 14
// datasets. The paper finds mean ranks 3.143, 2.000, 2.893 and 1.964, chi^2 = 9.28, F = 3.69 and a
// critical difference of 1.25. On the last but one it ranks the two that it prints as 0.975 in this
// order, so the first of them is a little larger here.
TEST(Ranks, AgreeWithDemsarsExample) {
  const Matrix auc = (Matrix(14, 4) << 0.763, 0.768, 0.771, 0.798,  //
                      0.599, 0.591, 0.590, 0.569,                   //
                      0.954, 0.971, 0.968, 0.967,                   //
                      0.628, 0.661, 0.654, 0.657,                   //
                      0.882, 0.888, 0.886, 0.898,                   //
                      0.936, 0.931, 0.916, 0.931,                   //
                      0.661, 0.668, 0.609, 0.685,                   //
                      0.583, 0.583, 0.563, 0.625,                   //
                      0.775, 0.838, 0.866, 0.875,                   //
                      1.000, 1.000, 1.000, 1.000,                   //
                      0.940, 0.962, 0.965, 0.962,                   //
                      0.619, 0.666, 0.614, 0.669,                   //
                      0.972, 0.981, 0.9751, 0.975,                  //
                      0.957, 0.978, 0.946, 0.970)
                         .finished();
  const RankComparison result = CompareRanks(RankRows(auc, true));
  const Vector expected{{3.143, 2.000, 2.893, 1.964}};
  EXPECT_LT((result.mean - expected).cwiseAbs().maxCoeff(), 0.0005) << result.mean.transpose();
  EXPECT_NEAR(result.chi_square, 9.28, 0.005);
  EXPECT_NEAR(result.f, 3.69, 0.005);
  EXPECT_NEAR(result.critical_difference, 1.25, 0.005);
  EXPECT_NEAR(result.p_value, 0.0197, 0.0005);  // F(3, 39)
}

TEST(Ranks, ByHand) {
  // Ranks 1 2, 1 2, 2 1: means 4/3 and 5/3; chi^2 = 12 * 3 / 6 * (41/9 - 4.5) = 1/3;
  // F = 2 (1/3) / (3 - 1/3) = 1/4 with 1 and 2 degrees of freedom.
  const Matrix ranks = (Matrix(3, 2) << 1, 2, 1, 2, 2, 1).finished();
  const RankComparison result = CompareRanks(ranks);
  EXPECT_NEAR(result.mean[0], 4.0 / 3, 1e-15);
  EXPECT_NEAR(result.standard_error[0], 1.0 / 3, 1e-15);
  EXPECT_NEAR(result.chi_square, 1.0 / 3, 1e-12);
  EXPECT_NEAR(result.f, 0.25, 1e-12);
  // F = t^2, and Student's t with 2 degrees of freedom has the cdf 1/2 + t / (2 sqrt(2 + t^2)).
  EXPECT_NEAR(result.p_value, 1 - 0.5 / std::sqrt(2.25), 1e-12);
}

TEST(Ranks, DatasetsThatAllAgreeLeaveNoDoubt) {
  const RankComparison result = CompareRanks(Matrix(Vector{{1, 2, 3}}.transpose()).replicate(5, 1));
  EXPECT_NEAR(result.chi_square, 10, 1e-12);
  EXPECT_EQ(result.f, INFINITY);
  EXPECT_EQ(result.p_value, 0);
  EXPECT_EQ(result.standard_error.norm(), 0);
  const RankComparison same = CompareRanks(Matrix::Constant(4, 3, 2));
  EXPECT_NEAR(same.chi_square, 0, 1e-12);
  EXPECT_NEAR(same.p_value, 1, 1e-12);
}

TEST(Ranks, CriticalValuesAreThoseInPrint) {
  // Demšar (2006), table 5a, for 2 to 10; beyond, tables of the studentized range (infinite degrees
  // of freedom) over the root of 2.
  const std::vector<double> printed = {1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031,
                                       3.102, 3.164, 3.219, 3.268, 3.313, 3.354, 3.391,
                                       3.426, 3.458, 3.489, 3.517, 3.544};
  for (std::size_t i = 0; i < printed.size(); ++i)
    EXPECT_NEAR(NemenyiCriticalValue(static_cast<Index>(i) + 2), printed[i], 0.0011) << i + 2;
  EXPECT_NEAR(NemenyiCriticalValue(2), 1.959963984540054, 1e-9);
}

TEST(Ranks, TooFewToCompareIsRefused) {
  EXPECT_NE(ErrorOf([] { CompareRanks(Matrix::Ones(1, 3)); }).find("datasets"), std::string::npos);
  EXPECT_NE(ErrorOf([] { CompareRanks(Matrix::Ones(3, 1)); }).find("methods"), std::string::npos);
}

}  // namespace
}  // namespace fathom
