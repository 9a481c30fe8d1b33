#include "bnn/relu_residuals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "tests/support/gradient.h"
#include "tests/support/simd_targets.h"

namespace fathom::bnn {
namespace {

struct ReluProblem {
  MlpShape shape;
  Vector w, y;
  Matrix X;
};

ReluProblem RandomRelu(Index rows, Index inputs, Index units) {
  RandomStream stream(9);
  MlpShape shape(inputs, {units}, Activation::kRelu);
  const Vector w = DrawWeights(shape.FanInVariances(), &stream);
  const Vector y = stream.NormalMatrix(rows, 1);
  return {std::move(shape), w, y, stream.NormalMatrix(rows, inputs)};
}

class ReluResidualsOf : public testing::TestWithParam<std::tuple<Index, Index, Index>> {
 protected:
  ReluProblem Make() const {
    return RandomRelu(std::get<0>(GetParam()), std::get<1>(GetParam()), std::get<2>(GetParam()));
  }
};

INSTANTIATE_TEST_SUITE_P(Shapes, ReluResidualsOf,
                         testing::Combine(testing::Values(1, 7, 64, 131),
                                          testing::Values(1, 4, 11, 12, 40),
                                          testing::Values(1, 8, 13, 50)));

TEST_P(ReluResidualsOf, AreThoseOfTheGeneralNetwork) {
  const ReluProblem p = Make();
  const Mlp mlp{p.shape, p.w};
  MlpTape tape;
  MlpForward(mlp, p.X, &tape);
  const Vector residuals = p.y - tape.f;
  Vector expected = Vector::Ones(p.w.size());
  MlpBackward(mlp, residuals, &tape, &expected);
  ForEachSimdTarget([&] {
    Vector descent = Vector::Ones(p.w.size());
    EXPECT_NEAR(ReluResiduals(mlp, p.X, p.y, &tape, &descent), residuals.squaredNorm(), 1e-11);
    EXPECT_LT((descent - expected).cwiseAbs().maxCoeff(), 1e-11);
  });
}

TEST_P(ReluResidualsOf, WithFactorsAreThoseOfTheGeneralNetwork) {
  const ReluProblem p = Make();
  const Mlp mlp{p.shape, p.w};
  RandomStream stream(3);
  InputFactors factors = {p.X, Matrix(p.X.rows(), p.shape.fan_out(0))};
  for (Matrix& of_layer : factors) {
    for (double& factor : of_layer.reshaped()) factor = stream.Uniform() < 0.4 ? 0 : 1.25;
  }
  MlpTape tape;
  MlpForward(mlp, p.X, &tape, &factors);
  const Vector residuals = p.y - tape.f;
  Vector expected = Vector::Ones(p.w.size());
  MlpBackward(mlp, residuals, &tape, &expected, &factors);
  ForEachSimdTarget([&] {
    Vector descent = Vector::Ones(p.w.size());
    EXPECT_NEAR(ReluResiduals(mlp, p.X, p.y, &tape, &descent, &factors), residuals.squaredNorm(),
                1e-11);
    EXPECT_LT((descent - expected).cwiseAbs().maxCoeff(), 1e-11);
  });
}

TEST_P(ReluResidualsOf, AreNearlyTheSameInSinglePrecision) {
  const ReluProblem p = Make();
  const Mlp mlp{p.shape, p.w};
  MlpTape tape;
  Vector expected = Vector::Zero(p.w.size());
  const double squares = ReluResiduals(mlp, p.X, p.y, &tape, &expected);
  const SingleMatrix X = p.X.cast<float>();
  ForEachSimdTarget([&] {
    Vector descent = Vector::Zero(p.w.size());
    EXPECT_NEAR(ReluResiduals(mlp, X, p.y, &tape, &descent), squares, 1e-6 * (1 + squares));
    EXPECT_LT((descent - expected).norm(), 2e-6 * (1 + expected.norm()));
  });
}

// Near a mode the residuals of many rows almost cancel out, and in a sorted table only after
// thousands of rows.
TEST(ReluResiduals, SinglePrecisionSuitsManySortedRows) {
  ReluProblem p = RandomRelu(40000, 9, 20);
  std::sort(p.X.col(0).begin(), p.X.col(0).end());
  p.y = MlpOutputs({p.shape, p.w}, p.X) + 0.1 * p.y;
  p.w *= 1.001;
  const Mlp mlp{p.shape, p.w};
  MlpTape tape;
  Vector expected = Vector::Zero(p.w.size());
  const double squares = ReluResiduals(mlp, p.X, p.y, &tape, &expected);
  const SingleMatrix X = p.X.cast<float>();
  ForEachSimdTarget([&] {
    Vector descent = Vector::Zero(p.w.size());
    EXPECT_NEAR(ReluResiduals(mlp, X, p.y, &tape, &descent), squares, 1e-6 * squares);
    EXPECT_LT((descent - expected).norm(), 1e-5 * expected.norm());
  });
}

TEST(ReluResiduals, GradientMatchesDifferences) {
  const ReluProblem p = RandomRelu(5, 3, 6);
  MlpTape tape;
  Vector descent = Vector::Zero(p.w.size());
  ReluResiduals({p.shape, p.w}, p.X, p.y, &tape, &descent);
  ExpectGradientMatches(
      [&](const Vector& w) {
        return -0.5 * ReluResiduals({p.shape, w}, p.X, p.y, &tape, nullptr);
      },
      descent, p.w, 1e-8, nullptr, 1e-5);
}

template <typename SomeMatrix>
void ExpectNaN(const Mlp& mlp, const SomeMatrix& X, const Vector& y) {
  MlpTape tape;
  Vector descent = Vector::Zero(mlp.weights.size());
  EXPECT_TRUE(std::isnan(ReluResiduals(mlp, X, y, &tape, &descent)));
  EXPECT_TRUE(descent.hasNaN());
}

TEST(ReluResiduals, NaNInRowsOrWeightsIsNoticed) {
  const ReluProblem p = RandomRelu(70, 3, 13);
  const SingleMatrix X_single = p.X.cast<float>();
  ForEachSimdTarget([&] {
    for (const Index place : {Index{0}, p.shape.offset(1) - 1, p.w.size() - 1}) {
      Vector w = p.w;
      w[place] = std::numeric_limits<double>::quiet_NaN();
      ExpectNaN({p.shape, w}, p.X, p.y);
      ExpectNaN({p.shape, w}, X_single, p.y);
      EXPECT_TRUE(MlpOutputs({p.shape, w}, p.X).hasNaN());
    }
    Matrix X = p.X;
    X(69, 1) = std::numeric_limits<double>::quiet_NaN();
    ExpectNaN({p.shape, p.w}, X, p.y);
    ExpectNaN({p.shape, p.w}, SingleMatrix(X.cast<float>()), p.y);
  });
}

// A unit that is off everywhere has no slope, and one at 0 has none either.
TEST(ReluResiduals, UnitsThatAreOffHaveNoSlope) {
  const MlpShape shape(1, {2}, Activation::kRelu);
  const Vector w = (Vector(7) << 1, 0, -1, -5, 2, 3, 0.5).finished();
  MlpTape tape;
  Vector descent = Vector::Zero(7);
  EXPECT_EQ(ReluResiduals({shape, w}, Matrix{{0}}, Vector::Ones(1), &tape, &descent), 0.25);
  EXPECT_EQ(descent, (Vector(7) << 0, 0, 0, 0, 0, 0, 0.5).finished());
}

}  // namespace
}  // namespace fathom::bnn
