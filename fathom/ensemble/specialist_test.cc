// Where deep networks carry an ensemble of many rows, two of them train on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fathom/base/random.h"
#include "fathom/ensemble/ensemble.h"
#include "fathom/ensemble/kinds.h"
#include "fathom/fit/fit.h"
#include "fathom/fit/resume.h"
#include "fathom/fitted/calibration.h"
#include "fathom/fitted/deep_gp_expert.h"
#include "fathom/fitted/predictor.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

constexpr Index kScoutSteps = 150;

// Sines of sines of eight inputs: too many columns for neighbours, and too deep for one GP.
DatasetParts Nested(Index rows, std::uint64_t seed) {
  RandomStream stream(seed);
  DatasetParts dataset;
  dataset.source = "nested";
  dataset.schema = NumericSchema({"a", "b", "c", "d", "e", "f", "g", "h"}, {"y"});
  const Matrix x = stream.NormalMatrix(rows, 8);
  dataset.inputs = Moments::Certain(x);
  const auto u = (0.6 * (x.col(0) + x.col(1) + x.col(2))).array().sin();
  const auto v = (0.6 * (x.col(3) - x.col(4) + x.col(5))).array().sin();
  dataset.targets = (u * v + 0.7 * x.col(6).array()).sin() + 0.5 * (v - x.col(7).array()).tanh();
  dataset.targets += 0.05 * stream.NormalMatrix(rows, 1);
  return dataset;
}

Recipe QuickDefault() {
  Recipe recipe;
  recipe.architecture.hidden = {4};
  recipe.architecture.inducing = {40, 20};
  recipe.effort = kScoutSteps / 600.0;
  recipe.optimizer.warm_up = 10;
  recipe.threads = 1;
  return recipe;
}

// The steps of the network that has learnt for longest.
Index MostSteps(const Model& model) {
  Index most = 0;
  for (const Member& member : model.members()) most = std::max(most, member.summary.steps);
  return most;
}

double Rmse(const Model& model, const DatasetParts& rows) {
  const Matrix mean = ModelPredictor(model, 1).Predict(rows.inputs).Mean();
  return std::sqrt((mean - rows.targets).squaredNorm() / static_cast<double>(mean.rows()));
}

TEST(Specialists, LearnForLongerAndAreJudgedByTheFoldsThatTheyLeftOut) {
  const DatasetParts many = Nested(kManyRows, 1);
  const Model whole = Fit(many, QuickDefault());
  // The steps of its scout, five times as many, and a quarter of all that on all rows.
  EXPECT_EQ(MostSteps(whole), 6 * kScoutSteps * 5 / 4);
  const HeldOutCheck& check = whole.calibration()->check;
  EXPECT_EQ(check.rows, 2 * kManyRows / 5);
  EXPECT_GT(check.coverage_95, 0.92);
  EXPECT_LT(Rmse(whole, Nested(1000, 2)), 1.1 * check.rmse);

  // Interrupted while the first trains, the model is the ensemble before it, and worse.
  const TestFolder folder;
  FitControl control;
  control.checkpoint = folder.Path("checkpoint");
  const Index others = 5 * (300 + kScoutSteps);  // of GPs, and of scouts
  double fraction = 0, before = 0;
  Index last = others + 30;
  control.callback = [&](const Progress& progress) {
    EXPECT_GE(progress.fraction, fraction);
    if (progress.step <= others + 1) before = progress.fraction;
    fraction = progress.fraction;
    return progress.step < last;
  };
  const Model cut = Fit(many, QuickDefault(), control);
  EXPECT_EQ(cut.summary().reason, StopReason::kInterrupted);
  EXPECT_EQ(cut.summary().steps, last);
  EXPECT_GT(fraction, before);  // it goes on while specialists train
  EXPECT_LE(MostSteps(cut), 300);
  EXPECT_EQ(cut.calibration()->check.rows, kManyRows);
  EXPECT_GT(cut.calibration()->check.rmse, 1.1 * check.rmse);

  // Interrupted again while the second trains, the first is there.
  last += 5 * kScoutSteps;
  fraction = 0;
  const Model later = Resume(many, LoadCheckpoint(control.checkpoint), control);
  EXPECT_EQ(later.summary().steps, last);
  EXPECT_EQ(MostSteps(later), 6 * kScoutSteps);
  EXPECT_EQ(later.calibration()->check.rows, kManyRows / 5);

  // What was calibrated cannot be trained as if it were a network.
  EXPECT_THROW(StartAgain(whole, 10), Error);

  // From there it goes on to the same bits.
  const Model resumed = Resume(many, LoadCheckpoint(control.checkpoint));
  EXPECT_EQ(resumed.summary().steps, whole.summary().steps);
  const Moments x = Nested(20, 3).inputs;
  const Prediction one = ModelPredictor(whole, 1).Predict(x);
  const Prediction other = ModelPredictor(resumed, 2).Predict(x);
  EXPECT_EQ(one.Mean(), other.Mean());
  EXPECT_EQ(one.Variance(), other.Variance());
}

}  // namespace
}  // namespace fathom
