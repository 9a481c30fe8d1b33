#include "bnn/unit_loops.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/random.h"

namespace fathom::bnn {
namespace {

// Widths that leave every kind of rest behind whole vectors.
class UnitLoops : public testing::TestWithParam<Index> {
 protected:
  static constexpr Index kRows = 6;
  Index width() const { return GetParam(); }
  UnitShape shape() const { return {kRows, width(), width() + 1}; }
  // Not all of one sign, and a few zeros.
  Matrix Draw(Index rows, Index cols) {
    Matrix draws = stream_.NormalMatrix(rows, cols);
    draws(0, 0) = 0;
    return draws;
  }

  RandomStream stream_{3};
};

INSTANTIATE_TEST_SUITE_P(Widths, UnitLoops, testing::Values(1, 2, 3, 7, 8, 11, 50));

TEST_P(UnitLoops, RectifyLeavesTheColumnOfOnes) {
  Matrix h = Draw(kRows, width() + 1);
  h.col(width()).setConstant(-1);
  const Matrix before = h;
  Rectify(shape(), h.data());
  EXPECT_EQ(h.leftCols(width()), before.leftCols(width()).cwiseMax(0));
  EXPECT_EQ(h.col(width()), before.col(width()));
}

TEST_P(UnitLoops, SlopesPassWhereTheUnitIsOn) {
  const Matrix h = Draw(kRows, width() + 1).cwiseMax(0);
  const Matrix d = Draw(kRows, width());
  Matrix masked = d;
  RectifyBackward(shape(), h.data(), masked.data());
  EXPECT_EQ(masked, Matrix((h.leftCols(width()).array() > 0).select(d, 0)));
  const Vector d_f = Draw(kRows, 1);
  const Vector w = Draw(width(), 1);
  Matrix outer(kRows, width());
  RectifyOuter(shape(), d_f.data(), w.data(), h.data(), outer.data());
  EXPECT_EQ(outer, Matrix((h.leftCols(width()).array() > 0).select(d_f * w.transpose(), 0)));
}

TEST_P(UnitLoops, DrawsOfARowShareTheirMoments) {
  constexpr Index kMomentRows = 3;
  const Matrix mean = Draw(kMomentRows, width());
  Matrix var = Draw(kMomentRows, width()).cwiseAbs2();  // one of them 0
  const Matrix eps = Draw(kRows, width());
  for (const bool rectify : {false, true}) {
    Matrix h = Matrix::Constant(kRows, width() + 1, 7);
    Matrix squares = h;
    Matrix ratio(kRows, width());
    DrawLocalUnits({shape(), kMomentRows, mean.data(), var.data(), eps.data()}, rectify, h.data(),
                   squares.data(), ratio.data());
    for (Index n = 0; n < kRows; ++n) {
      EXPECT_EQ(h(n, width()), 7);
      for (Index i = 0; i < width(); ++i) {
        const double sd = std::max(std::sqrt(var(n % kMomentRows, i)), 1e-12);
        const double a = mean(n % kMomentRows, i) + sd * eps(n, i);
        EXPECT_NEAR(h(n, i), rectify ? std::max(a, 0.0) : a, 1e-15);
        EXPECT_EQ(squares(n, i), h(n, i) * h(n, i));
        EXPECT_DOUBLE_EQ(ratio(n, i), eps(n, i) / sd);
      }
    }
  }
}

TEST_P(UnitLoops, TheOutputLayerIsTheGeneralCase) {
  const Matrix h = Draw(kRows, width() + 1);
  const Matrix ratio = Draw(kRows, width());
  const Vector d_f = Draw(kRows, 1);
  const Vector e_f = Draw(kRows, 1);
  const Vector mu = Draw(width(), 1);
  const Vector var = Draw(width(), 1).cwiseAbs2();
  const Matrix d_mean = d_f * mu.transpose();
  const Matrix d_h2 = e_f * var.transpose();
  for (const Slope slope : {Slope::kRelu, Slope::kTanh}) {
    Matrix d(kRows, width()), e(kRows, width()), d_out(kRows, width()), e_out(kRows, width());
    const DrawnUnits units{shape(), slope, h.data(), ratio.data()};
    LocalUnitsBackward(units, d_mean.data(), d_h2.data(), d.data(), e.data());
    LocalUnitsBackward(units, {mu.data(), var.data(), d_f.data(), e_f.data()}, d_out.data(),
                       e_out.data());
    EXPECT_LT((d - d_out).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LT((e - e_out).cwiseAbs().maxCoeff(), 1e-12);
    for (Index n = 0; n < kRows; ++n) {
      for (Index i = 0; i < width(); ++i) {
        const double at = h(n, i);
        const double by_slope = slope == Slope::kTanh ? 1 - at * at : at > 0 ? 1 : 0;
        EXPECT_NEAR(d(n, i), (d_mean(n, i) + d_h2(n, i) * at) * by_slope, 1e-13);
        EXPECT_NEAR(e(n, i), d(n, i) * ratio(n, i), 1e-13);
      }
    }
  }
}

}  // namespace
}  // namespace fathom::bnn
