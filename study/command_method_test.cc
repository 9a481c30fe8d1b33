#include "study/command_method.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/evaluate/metrics.h"
#include "study/quantile_observation.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

Dataset TenRows() {
  DatasetParts parts;
  parts.schema = NumericSchema({"a", "b"}, {"y"});
  parts.inputs = Moments::Certain(Matrix::Random(10, 2));
  parts.targets = Matrix::Random(10, 1);
  return parts;
}

const Moments kTest = Moments::Certain(Matrix{{1, 2}, {3, 4}, {5, 6}});

Prediction Predict(const std::string& command) {
  return std::get<Prediction>(CommandMethod(command)->Fit(TenRows())->Predict(kTest));
}

TEST(CommandMethod, TheProgramSeesBothTablesAndItsPredictionsAreRead) {
  // The mean is the first input, the deviation the number of training rows.
  const Prediction y = Predict(
      "f() { rows=$(($(wc -l < \"$1/train.csv\") - 1)); "
      "head -1 \"$1/train.csv\" | grep -qx a,b,y || exit 5; "
      "echo mean,std > \"$1/predictions.csv\"; "
      "tail -n +2 \"$1/test.csv\" | while IFS=, read a b; do echo $a,$rows; done >> "
      "\"$1/predictions.csv\"; }; f");
  EXPECT_EQ(y.Mean(), (Matrix{{1}, {3}, {5}}));
  EXPECT_EQ(y.Variance(), Matrix::Constant(3, 1, 100));
}

TEST(CommandMethod, FailuresAreTold) {
  const auto fails = [](const std::string& command) { return ErrorOf([&] { Predict(command); }); };
  EXPECT_EQ(fails("echo no such package >&2; exit 77; true"), "skipped: no such package");
  EXPECT_NE(fails("echo broken >&2; exit 3; true").find("exit code 3: broken"), std::string::npos);
  EXPECT_NE(fails("true").find("wrote no predictions.csv"), std::string::npos);
  EXPECT_NE(fails("f() { printf 'mean,std\\n1,2\\n' > \"$1/predictions.csv\"; }; f")
                .find("has 1 rows where test.csv has 3"),
            std::string::npos);
  EXPECT_NE(ErrorOf([] { CommandMethod(""); }).find("name the program"), std::string::npos);
}

Table TableOf(std::vector<std::string> columns, Matrix values) {
  return {.source = "p.csv", .columns = std::move(columns), .values = std::move(values)};
}

TEST(ReadPrediction, QuantilesAreKeptAndTheDensityIntegratesToOne) {
  const Prediction y =
      ReadPrediction(TableOf({"q05", "q25", "q5", "q75", "q95"}, Matrix{{-2, -0.5, 0, 1, 4}}));
  EXPECT_NEAR(y.Cdf(0, 0, -2), 0.05, 1e-12);
  EXPECT_NEAR(y.Cdf(0, 0, 0), 0.5, 1e-12);
  EXPECT_NEAR(y.Quantile(0, 0, 0.75), 1, 1e-9);
  double integral = 0;
  double mean = 0;
  double square = 0;
  constexpr double kStep = 0.002;
  for (double t = -60; t < 80; t += kStep) {
    const double at = t + 0.5 * kStep;
    const double density = std::exp(y.LogDensity(0, Eigen::RowVectorXd::Constant(1, at)));
    integral += kStep * density;
    mean += kStep * density * at;
    square += kStep * density * at * at;
  }
  EXPECT_NEAR(integral, 1, 1e-4);
  EXPECT_NEAR(y.Mean()(0, 0), mean, 1e-3);
  EXPECT_NEAR(y.Variance()(0, 0), square - mean * mean, 1e-2);
}

TEST(ReadPrediction, QuantilesThatCrossOrCoincideStillHaveADensity) {
  const Prediction y = ReadPrediction(TableOf({"q1", "q5", "q9"}, Matrix{{1, 0, 1}, {2, 2, 2}}));
  for (Index n = 0; n < 2; ++n)
    EXPECT_TRUE(std::isfinite(y.LogDensity(n, Eigen::RowVectorXd::Constant(1, 1.5))));
}

TEST(ReadPrediction, SamplesAreAMixtureAroundThem) {
  const Prediction y = ReadPrediction(TableOf({"s1", "s2", "s3"}, Matrix{{1, 2, 6}}));
  EXPECT_EQ(y.size(), 3);
  EXPECT_NEAR(y.Mean()(0, 0), 3, 1e-14);
}

TEST(ReadPrediction, WhatIsNoDistributionIsRefused) {
  const auto fails = [](const Table& table) { return ErrorOf([&] { ReadPrediction(table); }); };
  EXPECT_NE(fails(TableOf({"mean", "std"}, Matrix{{1, 0}})).find("not positive"),
            std::string::npos);
  EXPECT_NE(fails(TableOf({"mean"}, Matrix{{1}})).find("one column"), std::string::npos);
  EXPECT_NE(fails(TableOf({"q9", "q1"}, Matrix{{1, 0}})).find("must rise"), std::string::npos);
  EXPECT_NE(fails(TableOf({"s1", "s2"}, Matrix{{1, 1}})).find("all the same"), std::string::npos);
  EXPECT_NE(fails(TableOf({"mean", "std"}, Matrix{{1, NAN}})).find("p.csv: a cell is empty"),
            std::string::npos);
}

}  // namespace
}  // namespace fathom
