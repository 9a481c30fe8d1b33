#include "fathom/fit/linear_baseline.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/random.h"

namespace fathom {
namespace {

// y = 3 + 2 a - b + noise of deviation 0.5.
Dataset Made(Index rows, std::uint64_t seed) {
  RandomStream stream(seed);
  DatasetParts parts;
  parts.schema = NumericSchema({"a", "b"}, {"y"});
  parts.inputs.SetZero(rows, 2);
  parts.targets.resize(rows, 1);
  for (Index n = 0; n < rows; ++n) {
    const double a = stream.Normal(), b = 100 + stream.Normal();
    parts.inputs.mean(n, 0) = a;
    parts.inputs.mean(n, 1) = b;
    parts.targets(n, 0) = 3 + 2 * a - b + 0.5 * stream.Normal();
  }
  return parts;
}

TEST(LinearBaseline, FindsTheLineAndItsNoise) {
  const Dataset train = Made(2000, 1);
  DatasetParts parts;
  parts.schema = train.schema();
  parts.inputs.SetZero(2, 2);
  parts.inputs.mean << 1, 100, std::nan(""), 101;
  parts.targets.resize(2, 0);
  const Prediction prediction = PredictLinear(train, parts);
  EXPECT_NEAR(prediction.Mean()(0, 0), 3 + 2 - 100, 0.05);
  EXPECT_NEAR(prediction.Mean()(1, 0), 3 - 101, 0.15) << "a gap counts as the mean";
  EXPECT_NEAR(std::sqrt(prediction.Variance()(0, 0)), 0.5, 0.03);
}

TEST(LinearBaseline, IsScoredOnTheSplits) {
  RandomStream stream(2);
  const FoldScores scores = CrossValidateLinear(Made(300, 3), KFold(300, 3, &stream));
  EXPECT_EQ(ScoredRows(scores.mean), 300);
  EXPECT_NEAR(std::get<Scores>(scores.mean).rmse, 0.5, 0.05);
  EXPECT_NEAR(std::get<Scores>(scores.mean).mean_log_likelihood,
              -0.5 * std::log(2 * M_PI * M_E * 0.25), 0.1);
}

TEST(LinearBaseline, RepeatedAndConstantColumnsDoNoHarm) {
  DatasetParts parts = Made(50, 4).parts();
  parts.inputs.mean.col(1) = parts.inputs.mean.col(0);
  parts.targets.setConstant(7);
  const Dataset data = parts;
  const Prediction prediction = PredictLinear(data, data);
  EXPECT_NEAR(prediction.Mean()(0, 0), 7, 1e-5);
  EXPECT_GT(prediction.Variance().minCoeff(), 0);
}

}  // namespace
}  // namespace fathom
