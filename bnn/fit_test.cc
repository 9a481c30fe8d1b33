#include "bnn/fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "bnn/expert.h"
#include "bnn/fit_method.h"
#include "bnn/training_rows.h"
#include "fathom/base/error.h"
#include "fathom/evaluate/metrics.h"
#include "fathom/fitted/predictor.h"
#include "tests/support/every_baseline.h"
#include "tests/support/test_folder.h"

namespace fathom::bnn {
namespace {

// y = 5 + 2 sin(x_1) + x_2 + noise; x_3 is constant but for rounding.
Dataset MakeRows(Index rows, std::uint64_t seed) {
  RandomStream stream(seed);
  DatasetParts parts;
  Matrix X = stream.NormalMatrix(rows, 3);
  X.col(2).setConstant(1000.1);
  X(0, 2) += 1e-12;
  parts.targets.resize(rows, 1);
  for (Index n = 0; n < rows; ++n)
    parts.targets(n, 0) = 5 + 2 * std::sin(X(n, 0)) + X(n, 1) + 0.3 * stream.Normal();
  parts.inputs = Moments::Certain(X);
  parts.schema = NumericSchema({"a", "b", "c"}, {"y"});
  return parts;
}

// Short runs, enough to learn something.
BaselineOptions Quick(Baseline method) {
  BaselineOptions options{.method = method, .hidden = {8}};
  options.steps = method == Baseline::kSgld ? 1500 : 1000;
  options.epochs = method == Baseline::kPbp ? 10 : 300;
  options.burn_in = 15;
  options.draws = 20;
  options.chains = 2;
  options.threads = 1;
  return options;
}

class EveryBaseline : public testing::TestWithParam<Baseline> {};
INSTANTIATE_TEST_SUITE_P(All, EveryBaseline, AllBaselines(), BaselineTestName);

TEST_P(EveryBaseline, LearnsAndPredictsInTheUnitsOfTheFile) {
  const Model model = FitBaseline(MakeRows(150, 1), Quick(GetParam()));
  const Dataset test = MakeRows(100, 2);
  const Scores scores = Evaluate(ModelPredictor(model, 1).Predict(test.inputs()), test.targets());
  EXPECT_LT(scores.rmse, 0.9);  // the target's deviation is 1.7
  EXPECT_GT(scores.mean_log_likelihood, -1.6);
  const nlohmann::json findings = model.leader().expert->Findings();
  EXPECT_EQ(findings["settings"]["method"], NameOf(GetParam()));
  EXPECT_FALSE(findings["diagnostics"].empty());
}

TEST_P(EveryBaseline, AnyNumberOfThreadsAndAnyChunkGiveTheSameBits) {
  const Dataset train = MakeRows(60, 1);
  const Dataset test = MakeRows(20, 2);
  BaselineOptions options = Quick(GetParam());
  options.epochs = std::min<Index>(options.epochs, 5);
  options.steps = 200;
  const ModelPredictor one(FitBaseline(train, options), 1);
  options.threads = 3;
  const ModelPredictor three(FitBaseline(train, options), 3);
  const Prediction all = one.Predict(test.inputs());
  EXPECT_EQ(all.Mean(), three.Predict(test.inputs()).Mean());
  EXPECT_EQ(all.Variance(), three.Predict(test.inputs()).Variance());
  const Prediction part = one.Predict(test.inputs().MiddleRows(7, 2));
  EXPECT_EQ(part.Mean(), all.Mean().middleRows(7, 2));
}

TEST_P(EveryBaseline, AFileHoldsAllThatPredicts) {
  RegisterNetworkExpert();
  BaselineOptions options = Quick(GetParam());
  options.epochs = 2;
  options.steps = 100;
  const Model model = FitBaseline(MakeRows(40, 1), options);
  const TestFolder folder;
  SaveModel(model, folder.Path("m.fathom"));
  const Model loaded = LoadModel(folder.Path("m.fathom"));
  const Dataset test = MakeRows(10, 2);
  const Prediction before = ModelPredictor(model, 1).Predict(test.inputs());
  const Prediction after = ModelPredictor(loaded, 1).Predict(test.inputs());
  EXPECT_EQ(before.Mean(), after.Mean());
  EXPECT_EQ(before.Variance(), after.Variance());
  EXPECT_EQ(model.leader().expert->Findings(), loaded.leader().expert->Findings());
  EXPECT_EQ(model.leader().expert->Describe(), loaded.leader().expert->Describe());
}

TEST_P(EveryBaseline, OneRowFarOutHasAFiniteDensity) {
  BaselineOptions options = Quick(GetParam());
  options.epochs = 2;
  options.steps = 100;
  const Model model = FitBaseline(MakeRows(40, 1), options);
  Dataset test = MakeRows(1, 2);
  const Prediction y = ModelPredictor(model, 1).Predict(test.inputs());
  EXPECT_TRUE(std::isfinite(y.LogDensity(0, Eigen::RowVectorXd::Constant(1, 1e4))));
}

TEST_P(EveryBaseline, StoppedEarlyItKeepsWhatItHasOrSaysThatThereIsNothing) {
  int calls = 0;
  const BaselineControl control{.callback = [&](double) { return ++calls < 40; }};
  try {
    const Model model = FitBaseline(MakeRows(40, 1), Quick(GetParam()), control);
    EXPECT_EQ(model.summary().reason, StopReason::kInterrupted);
    const Dataset test = MakeRows(5, 2);
    EXPECT_TRUE(ModelPredictor(model, 1).Predict(test.inputs()).Mean().allFinite());
  } catch (const StoppedTooEarly& stopped) {
    EXPECT_NE(std::string(stopped.what()).find("stopped"), std::string::npos);
  }
  EXPECT_LT(calls, 50);
}

TEST(FitBaseline, LatentPredictionsHaveNoNoise) {
  const Model model = FitBaseline(MakeRows(60, 1), Quick(Baseline::kPbp));
  const ModelPredictor predictor(model, 1);
  const Dataset test = MakeRows(5, 2);
  const Matrix with = predictor.Predict(test.inputs()).Variance();
  const Matrix without = predictor.Predict(test.inputs(), {.latent = true}).Variance();
  const double noise = model.leader().expert->NoiseVariance()[0] *
                       std::pow(model.leader().target_scaler.scale[0], 2);
  EXPECT_LT((with - without - Matrix::Constant(5, 1, noise)).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(FitBaseline, AConstantColumnIsOnlyShifted) {
  const TrainingRows rows = Standardize(MakeRows(50, 1));
  EXPECT_EQ(rows.input_scaler.scale[2], 1);
  EXPECT_LT(rows.rows.X.col(2).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_NEAR(rows.rows.X.col(0).squaredNorm() / 50, 1, 1e-12);
}

TEST(FitBaseline, ATableOfBitsStaysAsItIs) {
  DatasetParts parts = MakeRows(20, 1).parts();
  for (Index n = 0; n < 20; ++n) {
    for (Index c = 0; c < 3; ++c) parts.inputs.mean(n, c) = static_cast<double>((n >> c) & 1);
  }
  const Matrix bits = parts.inputs.mean;
  EXPECT_EQ(Standardize(parts).rows.X, bits);
}

std::string ErrorOf(DatasetParts parts, const BaselineOptions& options = {}) {
  try {
    FitBaseline(std::move(parts), options);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(FitBaseline, WhatItCannotLearnIsRefused) {
  const DatasetParts good = MakeRows(20, 1).parts();
  DatasetParts constant = good;
  constant.targets.setConstant(3);
  EXPECT_NE(ErrorOf(constant).find("nothing to learn"), std::string::npos);
  DatasetParts weighted = good;
  weighted.weights = Vector::Ones(20);
  EXPECT_NE(ErrorOf(weighted).find("weights"), std::string::npos);
  DatasetParts two = good;
  two.schema = NumericSchema({"a", "b", "c"}, {"y", "z"});
  two.targets = Matrix::Random(20, 2);
  EXPECT_NE(ErrorOf(two).find("2 targets"), std::string::npos);
  BaselineOptions tanh{.method = Baseline::kPbp, .activation = Activation::kTanh};
  EXPECT_NE(ErrorOf(good, tanh).find("relu"), std::string::npos);
  BaselineOptions negative{.method = Baseline::kVi};
  negative.kl_weight = -1;
  EXPECT_NE(ErrorOf(good, negative).find("kl_weight must be from 0"), std::string::npos);
}

TEST(FitBaseline, ShortRunsOfTheSamplersSayThatTheyHaveNotConverged) {
  BaselineOptions options = Quick(Baseline::kSgld);
  options.steps = 60;
  options.step = 1e-4;
  const Model model = FitBaseline(MakeRows(60, 1), options);
  const nlohmann::json findings = model.leader().expert->Findings();
  ASSERT_FALSE(findings["warnings"].empty());
  EXPECT_NE(findings["warnings"][0].get<std::string>().find("do not agree"), std::string::npos);
}

TEST(FitBaseline, AShortFitOfTheBoundSaysThatItHasNotSettled) {
  BaselineOptions options = Quick(Baseline::kVi);
  options.steps = 400;
  const nlohmann::json findings = FitBaseline(MakeRows(60, 1), options).leader().expert->Findings();
  ASSERT_FALSE(findings["warnings"].empty());
  EXPECT_NE(findings["warnings"][0].get<std::string>().find("has not settled"), std::string::npos);
  EXPECT_LT(findings["diagnostics"]["change_of_the_bound_per_row"], -0.01);
}

TEST(BatchPlan, EveryEpochHasEachRowOnceAndKeepsOrDropsTheRest) {
  const Rows rows{Vector::LinSpaced(10, 0, 9), Vector::LinSpaced(10, 0, 9)};
  BatchPlan keep(rows, 4, BatchPlan::Remainder::kKeep, 1);
  EXPECT_EQ(keep.steps_per_epoch(), 3);
  double sum = 0;
  for (Index step = 0; step < 3; ++step) sum += keep.At(step).y.sum();
  EXPECT_EQ(sum, 45);
  EXPECT_EQ(keep.At(2).size(), 2);
  BatchPlan drop(rows, 4, BatchPlan::Remainder::kDrop, 1);
  EXPECT_EQ(drop.steps_per_epoch(), 2);
  BatchPlan whole(rows, 128, BatchPlan::Remainder::kDrop, 1);
  EXPECT_EQ(&whole.At(7), &rows);
}

TEST(SeedFor, DiffersByPurposeAndSeed) {
  EXPECT_NE(SeedFor(1, "a"), SeedFor(1, "b"));
  EXPECT_NE(SeedFor(1, "a"), SeedFor(2, "a"));
  EXPECT_EQ(SeedFor(1, "a"), SeedFor(1, "a"));
}

TEST(Sgld, WhereAllChainsDivergeTheBestOfTheSmallerStepsIsNext) {
  const Dataset dataset = MakeRows(60, 1);
  const BaselineOptions options = Quick(Baseline::kSgld);
  const TrainingRows train = Standardize(dataset);
  const MlpShape shape(train.x.cols(), options.hidden, options.activation);
  const ThreadPool pool(1);
  Watch watch;
  FitContext context{.dataset = dataset,
                     .options = options,
                     .train = train,
                     .shape = shape,
                     .pool = pool,
                     .watch = &watch,
                     .seed = 1};
  SgldOptions sgld{.steps = 300, .draws = 10, .chains = 2, .start_steps = 50};
  const auto chains = SampleWithSteps(
      {{.step = 9, .log_likelihood = 0}, {.step = 10}, {.step = 1e-3}, {.step = 1e-4}}, &sgld,
      &context);
  EXPECT_EQ(chains.size(), 2u);
  EXPECT_EQ(sgld.step, 1e-3);
  EXPECT_EQ(context.findings.diagnostics["steps_that_diverged"], 1);
  SgldOptions hopeless = {.steps = 300, .draws = 10, .chains = 2, .start_steps = 50};
  EXPECT_THROW(SampleWithSteps({{.step = 9}}, &hopeless, &context), NumericalError);
}

}  // namespace
}  // namespace fathom::bnn
