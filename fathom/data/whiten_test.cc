#include "fathom/data/whiten.h"

#include <gtest/gtest.h>

#include "fathom/base/random.h"
#include "fathom/data/standardize.h"

namespace fathom {
namespace {

// Columns that follow one signal but for differences of a hundredth of it, and a copy of the first.
struct Collinear {
  explicit Collinear(Index rows) {
    RandomStream stream(4);
    signal = stream.NormalMatrix(rows, 1);
    differences = stream.NormalMatrix(rows, 2);
    Matrix raw(rows, 4);
    raw << signal, signal + 0.01 * differences.col(0), signal + 0.01 * differences.col(1), signal;
    x = StandardizeInputs(FitScaler(raw), Moments::Certain(raw)).mean;
  }
  static Matrix Standardized(const Matrix& y) { return StandardizeTargets(FitScaler(y), y); }
  Matrix signal, differences, x;
};

TEST(PrincipalDirections, AreUncorrelatedAndWithoutThoseThatNeverVary) {
  const Collinear table(500);
  const PrincipalDirections principal = FindPrincipalDirections(table.x);
  ASSERT_EQ(principal.directions.cols(), 3);
  const Matrix scores = table.x * principal.directions;
  EXPECT_TRUE((scores.transpose() * scores / 500).isIdentity(1e-6));
  EXPECT_GT(principal.variance[0], 3.9);
  EXPECT_LT(principal.variance[1], 0.01);
}

TEST(PrincipalDirections, OfAConstantTableAreNone) {
  EXPECT_EQ(FindPrincipalDirections(Matrix::Zero(5, 3)).directions.cols(), 0);
}

TEST(HidesInSmallDirections, TellsASmallDifferenceFromTheCommonSignal) {
  const Collinear table(500);
  const PrincipalDirections principal = FindPrincipalDirections(table.x);
  const Matrix difference = Collinear::Standardized(table.differences.col(0));
  const Matrix common = Collinear::Standardized(table.signal);
  EXPECT_TRUE(HidesInSmallDirections(principal, table.x, difference));
  EXPECT_FALSE(HidesInSmallDirections(principal, table.x, common));
  Matrix both(500, 2);
  both << common, difference;
  EXPECT_TRUE(HidesInSmallDirections(principal, table.x, both));
  // Noise, of which a linear fit explains next to nothing.
  const Matrix noise = Collinear::Standardized(RandomStream(9).NormalMatrix(500, 1));
  EXPECT_FALSE(HidesInSmallDirections(principal, table.x, noise));
}

TEST(HidesInSmallDirections, SaysNothingOfFewRows) {
  const Collinear table(30);
  EXPECT_FALSE(HidesInSmallDirections(FindPrincipalDirections(table.x), table.x,
                                      Collinear::Standardized(table.differences.col(0))));
}

TEST(HidesInSmallDirections, LooksAtASampleOfManyRows) {
  const Collinear table(50'000);
  const PrincipalDirections principal = FindPrincipalDirections(table.x);
  EXPECT_TRUE(HidesInSmallDirections(principal, table.x,
                                     Collinear::Standardized(table.differences.col(1))));
}

}  // namespace
}  // namespace fathom
