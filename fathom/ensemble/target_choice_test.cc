#include "fathom/ensemble/target_choice.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/random.h"
#include "fathom/fit/fit.h"
#include "fathom/fitted/predictor.h"

namespace fathom {
namespace {

// Two inputs, and a target that `make` draws given the first.
template <typename Make>
DatasetParts Sample(Index rows, const Make& make, std::uint64_t seed = 1) {
  RandomStream stream(seed);
  DatasetParts dataset;
  dataset.source = "made";
  dataset.schema = NumericSchema({"a", "b"}, {"y"});
  Matrix x(rows, 2);
  dataset.targets.resize(rows, 1);
  for (Index n = 0; n < rows; ++n) {
    x.row(n) << stream.Uniform(), stream.Uniform();
    dataset.targets(n, 0) = make(x(n, 0), &stream);
  }
  dataset.inputs = Moments::Certain(x);
  return dataset;
}

Recipe NeighboursAlone() {
  Recipe recipe;
  recipe.local = Local::kOnly;
  recipe.threads = 1;
  return recipe;
}

double MeanLogDensity(const Model& model, const DatasetParts& rows) {
  const Prediction y = ModelPredictor(model, 1).Predict(rows.inputs);
  double sum = 0;
  for (Index n = 0; n < rows.targets.rows(); ++n) sum += y.LogDensity(n, rows.targets.row(n));
  return sum / static_cast<double>(rows.targets.rows());
}

double Coin(double a, RandomStream* stream) {
  return stream->Uniform() < 1 / (1 + std::exp(3 - 6 * a)) ? 1 : 0;
}

// Most rows are 0, the others far from it.
double MostlyZero(double a, RandomStream* stream) {
  if (stream->Uniform() < 0.9 - 0.4 * a) return 0;
  return std::exp(2 + a + 0.5 * stream->Normal());
}

TEST(ChooseTarget, TwoValuesHaveProbabilities) {
  const Model model = Fit(Sample(200, Coin), NeighboursAlone());
  const TargetShape& shape = model.calibration()->shape;
  EXPECT_TRUE(shape.has_value);
  EXPECT_EQ(model.calibration()->share, nullptr);
  const DatasetParts fresh = Sample(500, Coin, 2);
  // The truth has -0.50, a constant -0.69.
  EXPECT_GT(MeanLogDensity(model, fresh), -0.6);
  const Prediction y = ModelPredictor(model, 1).Predict(fresh.inputs);
  EXPECT_GE(y.Mean().minCoeff(), 0);
  EXPECT_LE(y.Mean().maxCoeff(), 1);
}

TEST(ChooseTarget, AFrequentValueHasAProbabilityOfItsOwn) {
  const Model model = Fit(Sample(300, MostlyZero), NeighboursAlone());
  const Calibration& calibration = *model.calibration();
  EXPECT_TRUE(calibration.shape.has_value);
  EXPECT_EQ(calibration.shape.value, 0);
  ASSERT_NE(calibration.share, nullptr);
  EXPECT_EQ(calibration.check.rows, 300);
  EXPECT_GT(calibration.check.coverage_95, 0.9);
  const DatasetParts fresh = Sample(300, MostlyZero, 2);
  EXPECT_NEAR(MeanLogDensity(model, fresh), calibration.check.log_likelihood, 0.5);
  // The same bits after a visit to a file.
  const Model loaded = ModelFromBytes("model", ModelToBytes(model));
  EXPECT_EQ(MeanLogDensity(loaded, fresh), MeanLogDensity(model, fresh));
  EXPECT_EQ(loaded.calibration()->shape, calibration.shape);
  EXPECT_EQ(loaded.natures(), model.natures());
}

// The rows by which shapes are chosen would hold two or three of them by chance.
TEST(ChooseTarget, AFewValuesAmongManyZerosAreFound) {
  const auto rare = [](double a, RandomStream* stream) {
    return stream->Uniform() < 0.008 ? std::exp(2 + a + 0.5 * stream->Normal()) : 0;
  };
  const Model model = Fit(Sample(3000, rare), NeighboursAlone());
  const Calibration& calibration = *model.calibration();
  EXPECT_TRUE(calibration.shape.has_value);
  EXPECT_EQ(calibration.check.rows, 3000);
  const DatasetParts fresh = Sample(3000, rare, 2);
  EXPECT_NEAR(MeanLogDensity(model, fresh), calibration.check.log_likelihood, 0.1);
}

TEST(ChooseTarget, PlainIsWhatWasAskedFor) {
  Recipe recipe = NeighboursAlone();
  recipe.target_kind = TargetKind::kPlain;
  const Model model = Fit(Sample(100, MostlyZero), recipe);
  EXPECT_TRUE(model.calibration()->shape.is_plain());
  EXPECT_EQ(model.natures().size(), 1U);
}

TEST(ChooseTarget, SkewedNumbersAreLogarithms) {
  const auto lognormal = [](double a, RandomStream* stream) {
    return std::exp(3 * a + 0.5 * stream->Normal());
  };
  const Model model = Fit(Sample(300, lognormal), NeighboursAlone());
  EXPECT_EQ(model.calibration()->shape.warp.kind, Warp::Kind::kLog);
  const auto line = [](double a, RandomStream* stream) { return 3 * a + 0.5 * stream->Normal(); };
  EXPECT_TRUE(Fit(Sample(300, line), NeighboursAlone()).calibration()->shape.is_plain());
}

// On one of two parallel curves; the more often on the upper one, the larger a is.
double OneOfTwo(double a, RandomStream* stream) {
  const double side = stream->Uniform() < 0.3 + 0.4 * a ? 1 : -1;
  return std::sin(6 * a) + 2 * side + 0.3 * stream->Normal();
}

TEST(ChooseTarget, ErrorsWithTwoHumpsHaveTwo) {
  const Model model = Fit(Sample(300, OneOfTwo), NeighboursAlone());
  const Calibration& calibration = *model.calibration();
  EXPECT_NEAR(calibration.shape.gap, 4, 0.2);
  EXPECT_EQ(calibration.check.rows, 300);
  const DatasetParts fresh = Sample(1000, OneOfTwo, 2);
  // The truth has -0.88, one hump -2.1.
  EXPECT_GT(MeanLogDensity(model, fresh), -1.2);
  EXPECT_NEAR(MeanLogDensity(model, fresh), calibration.check.log_likelihood, 0.15);
  const Prediction y = ModelPredictor(model, 1).Predict(fresh.inputs);
  double covered = 0;
  for (Index n = 0; n < fresh.targets.rows(); ++n) {
    const double below = y.Cdf(n, 0, fresh.targets(n, 0));
    covered += below > 0.025 && below < 0.975 ? 1e-3 : 0;
  }
  EXPECT_GT(covered, 0.9);
  EXPECT_LT(covered, 0.99);
  // The same bits after a visit to a file.
  const Model loaded = ModelFromBytes("model", ModelToBytes(model));
  EXPECT_EQ(loaded.calibration()->shape, calibration.shape);
  EXPECT_EQ(MeanLogDensity(loaded, fresh), MeanLogDensity(model, fresh));
}

TEST(ChooseTarget, OneHumpStaysOne) {
  const auto skewed = [](double a, RandomStream* stream) {
    return a - std::log(stream->Uniform()) - 5;
  };
  const auto outliers = [](double a, RandomStream* stream) {
    return a + (stream->Uniform() < 0.05 ? 20 : 0.3 * stream->Normal());
  };
  const auto even = [](double a, RandomStream* stream) { return a + stream->Uniform(); };
  EXPECT_EQ(Fit(Sample(200, skewed), NeighboursAlone()).calibration()->shape.gap, 0);
  EXPECT_EQ(Fit(Sample(200, outliers), NeighboursAlone()).calibration()->shape.gap, 0);
  EXPECT_EQ(Fit(Sample(200, even), NeighboursAlone()).calibration()->shape.gap, 0);
}

TEST(FitShareLogit, FindsTheLogitThatTheRowsWereDrawnFrom) {
  RandomStream stream(5);
  constexpr Index kRows = 20000;
  Vector q(kRows), is_value(kRows);
  const Vector truth = (Vector(2) << 0.5, 1.7).finished();
  for (Index n = 0; n < kRows; ++n) q[n] = stream.Uniform();
  const Vector p = SharesOf(truth, q);
  for (Index n = 0; n < kRows; ++n) is_value[n] = stream.Uniform() < p[n] ? 1 : 0;
  EXPECT_TRUE(FitShareLogit(q, is_value).isApprox(truth, 0.06));
  // One row says next to nothing.
  const Vector one = FitShareLogit(Vector::Constant(1, 0.5), Vector::Ones(1));
  EXPECT_LT(std::abs(one[0]), 0.5);
  EXPECT_NEAR(one[1], 1, 1e-9);
}

TEST(ShapesFor, CountsIncludeAPartOfTheirOwnForZeros) {
  RandomStream stream(3);
  Vector y(200);
  for (double& value : y) value = stream.Uniform() < 0.6 ? 0 : 1 + std::floor(4 * stream.Uniform());
  const std::vector<TargetShape> shapes = ShapesFor(NatureOf(y), y);
  EXPECT_EQ(shapes[0].step, 1);
  EXPECT_FALSE(shapes[0].has_value);
  EXPECT_TRUE(shapes.back().has_value);
  EXPECT_EQ(shapes.back().least, 1);
  for (const TargetShape& shape : shapes) EXPECT_NO_THROW(CheckShape(shape));
}

}  // namespace
}  // namespace fathom
