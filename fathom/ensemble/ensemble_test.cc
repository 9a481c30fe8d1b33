#include "fathom/ensemble/ensemble.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fathom/base/random.h"
#include "fathom/ensemble/kinds.h"
#include "fathom/fit/resume.h"
#include "fathom/fitted/by_expert.h"
#include "fathom/fitted/predictor.h"
#include "tests/support/changed_model.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

DatasetParts Wave(Index rows) {
  RandomStream stream(3);
  DatasetParts dataset;
  dataset.source = "wave";
  dataset.schema = NumericSchema({"a", "b"}, {"y"});
  const Matrix x = stream.NormalMatrix(rows, 2);
  dataset.inputs = Moments::Certain(x);
  dataset.targets = (2 * x.col(0)).array().sin().matrix() + 0.1 * stream.NormalMatrix(rows, 1);
  return dataset;
}

Recipe SmallStack() {
  Recipe recipe;
  recipe.stack = Stacking::kAlways;
  recipe.architecture.hidden = {2};
  recipe.architecture.inducing = {6, 5};
  recipe.architecture.paths = 3;
  recipe.optimizer.steps = 6;
  recipe.optimizer.warm_up = 2;
  recipe.threads = 1;
  return recipe;
}

void ExpectSamePredictions(const Model& a, const Model& b) {
  const Moments x = Wave(7).inputs;
  const Prediction one = ModelPredictor(a, 1).Predict(x);
  const Prediction other = ModelPredictor(b, 2).Predict(x);
  ASSERT_EQ(one.size(), other.size());
  EXPECT_EQ(one.weights, other.weights);
  for (std::size_t s = 0; s < one.components.size(); ++s) {
    EXPECT_EQ(one.components[s].mean, other.components[s].mean);
    EXPECT_EQ(one.components[s].var, other.components[s].var);
  }
}

// The first network of an ensemble.
Model Alone(const Model& ensemble) {
  return Changed(ensemble, [](ModelParts* parts) {
    parts->members.resize(1);
    parts->members[0].weight = 1;
  });
}

// How many networks the members are made of.
Index CountExperts(const Model& model) {
  Index experts = 0;
  const Expert* last = nullptr;
  for (const Member& member : model.members())
    if (member.expert.get() != std::exchange(last, member.expert.get())) ++experts;
  return experts;
}

TEST(StackRecipes, LeaveOutWhatDoesNotFit) {
  const DatasetParts wave = Wave(600);
  Recipe recipe = SmallStack();
  EXPECT_EQ(StackRecipes(recipe, wave).size(), 5U);
  recipe.stack = Stacking::kAuto;
  for (const Recipe& kind : StackRecipes(recipe, wave))
    EXPECT_NE(kind.architecture.propagation, Propagation::kSamples);
  recipe.architecture.hidden = {};
  EXPECT_EQ(StackRecipes(recipe, wave).size(), 1U);
}

TEST(MakesStack, ForNumbersInTablesWithRowsToJudgeBy) {
  Recipe recipe = SmallStack();
  EXPECT_TRUE(MakesStack(Wave(20), recipe));  // is asked for
  recipe.stack = Stacking::kNever;
  EXPECT_FALSE(MakesStack(Wave(600), recipe));
  recipe.stack = Stacking::kAuto;
  EXPECT_FALSE(MakesStack(Wave(499), recipe));
  const DatasetParts wave = Wave(500);
  EXPECT_TRUE(MakesStack(wave, recipe));

  DatasetParts classes = wave;
  classes.targets = (wave.targets.array() > 0).cast<double>();
  classes.schema.classes = {"low", "high"};
  EXPECT_FALSE(MakesStack(classes, recipe));
  const auto pays = [&](auto&& change) {
    Recipe changed = recipe;
    change(&changed);
    return MakesStack(wave, changed);
  };
  EXPECT_FALSE(pays([](Recipe* r) { r->architecture.hidden = {}; }));
  EXPECT_FALSE(pays([](Recipe* r) { r->architecture.propagation = Propagation::kSamples; }));
  EXPECT_FALSE(pays([](Recipe* r) { r->architecture.full_covariance = true; }));
  EXPECT_FALSE(pays([](Recipe* r) { r->architecture.likelihood = "student_t"; }));
  EXPECT_FALSE(pays([](Recipe* r) { r->inference = Inference::kSep; }));
}

// Otherwise components could sit on the values that the target takes.
TEST(StackRecipes, KeepPathsAsWideAsTheRoundingOfTheTarget) {
  DatasetParts grades = Wave(600);
  grades.targets = 0.5 * (4 * grades.targets.array()).round();  // steps of 0.5
  const double variance = (grades.targets.array() - grades.targets.mean()).square().sum() / 600;
  for (const Recipe& kind : StackRecipes(SmallStack(), grades)) {
    if (kind.architecture.propagation == Propagation::kMoments) {
      EXPECT_EQ(kind.noise_floor, Recipe().noise_floor);
    } else {
      EXPECT_NEAR(kind.noise_floor, 0.25 / (12 * variance), 1e-12);
    }
  }
}

TEST(Stack, IsAMixtureOfItsNetworksAndComesBackFromItsFile) {
  const DatasetParts dataset = Wave(60);
  const Model stack = Fit(dataset, SmallStack());
  ASSERT_GT(CountExperts(stack), 1);
  double shares = 0;
  for (const Member& member : stack.members()) {
    EXPECT_LE(member.weight, stack.leader().weight);
    EXPECT_EQ(member.summary.rows, 60);
    shares += member.weight;
  }
  EXPECT_NEAR(shares, 1, 1e-12);
  const Prediction mixture = ModelPredictor(stack, 1).Predict(dataset.inputs);
  EXPECT_NEAR(mixture.weights.sum(), 1, 1e-12);
  const Prediction first = ModelPredictor(Alone(stack), 1).Predict(dataset.inputs);
  EXPECT_EQ(mixture.components[0].mean, first.components[0].mean);
  EXPECT_EQ(mixture.components[0].var, first.components[0].var);
  EXPECT_GT(mixture.size(), first.size());

  const TestFolder folder;
  SaveModel(stack, folder.Path("stack.fathom"));
  ExpectSamePredictions(stack, LoadModel(folder.Path("stack.fathom")));
}

// The floor of points is a thousandth of the target's variance; where less noise is left, they have
// nothing to add.
TEST(Stack, LeavesOutKindsThatTheFirstNetworkMakesNeedless) {
  Recipe recipe = SmallStack();
  recipe.optimizer.batch_size = 600;  // so that every step is reported
  std::vector<EpochMetrics> epochs;
  FitControl control;
  control.on_epoch = [&](const EpochMetrics& metrics) { epochs.push_back(metrics); };
  const auto stages = [&](double noise) {
    recipe.start.output_noise = noise;
    epochs.clear();
    const Model stack = Fit(Wave(600), recipe, control);
    return epochs.back().stage - (CountExperts(stack) - 1);
  };
  EXPECT_EQ(stages(0.3), 5);
  EXPECT_EQ(stages(1e-5), 4);
  recipe.stack = Stacking::kAuto;
  EXPECT_EQ(stages(0.3), 4);   // moments, one layer more, none hidden, points
  EXPECT_EQ(stages(1e-5), 2);  // moments and none hidden
}

TEST(Stack, HasANetworkUnderMoreNoiseForOutliers) {
  const DatasetParts dataset = Wave(600);
  Recipe recipe = SmallStack();
  recipe.optimizer.steps = 60;
  const Model stack = Fit(dataset, recipe);
  const auto is_wide = [](const Member& member) { return member.noise_scale > 1; };
  const Model without = Changed(stack, [&](ModelParts* parts) {
    EXPECT_EQ(std::erase_if(parts->members, is_wide), 1U);
    NormalizeWeights(&parts->members);
  });
  // A row that is far off all others.
  DatasetParts outlier = Wave(1);
  outlier.targets(0, 0) = 20;
  const auto log_density = [&](const Model& model) {
    return ModelPredictor(model, 1).Predict(outlier.inputs).LogDensity(0, outlier.targets.row(0));
  };
  EXPECT_LT(log_density(without), -500);
  EXPECT_GT(log_density(stack), 0.3 * log_density(without));
}

TEST(Stack, MoreNoiseIsThatOfFiveTimesTheDeviation) {
  const DatasetParts dataset = Wave(60);
  Recipe recipe = SmallStack();
  recipe.stack = Stacking::kNever;
  const Model narrow = Fit(dataset, recipe);
  const Model both = Changed(narrow, [](ModelParts* parts) {
    parts->members.push_back(parts->members[0]);
    parts->members[0].weight = 0.75;
    parts->members[1].weight = 0.25;
    parts->members[1].noise_scale = 25;
  });
  const Model wide =
      WithNetwork(narrow, [](DeepGp* network) { network->likelihood_parameters *= 25; });
  const auto predict = [&](const Model& model, bool latent) {
    return ModelPredictor(model, 1).Predict(dataset.inputs, {.latent = latent});
  };
  const Prediction y = predict(both, false);
  ASSERT_EQ(y.size(), 2);
  EXPECT_EQ(y.weights, (Vector(2) << 0.75, 0.25).finished());
  EXPECT_EQ(y.components[0].var, predict(narrow, false).components[0].var);
  EXPECT_TRUE(y.components[1].var.isApprox(predict(wide, false).components[0].var, 1e-12));
  EXPECT_EQ(y.Mean(), predict(narrow, false).Mean());
  EXPECT_EQ(predict(both, true).Variance(), predict(narrow, true).Variance());
  // A network may be a member for outliers alone.
  const Model alone = Changed(both, [](ModelParts* parts) {
    parts->members.erase(parts->members.begin());
    parts->members[0].weight = 1;
  });
  EXPECT_EQ(predict(alone, false).size(), 1);
  const TestFolder folder;
  for (const Model& model : {both, alone}) {
    SaveModel(model, folder.Path("wide.fathom"));
    ExpectSamePredictions(model, LoadModel(folder.Path("wide.fathom")));
  }
}

TEST(Stack, OfClassesAndOfSeveralWeightedTargets) {
  DatasetParts classes = Wave(80);
  classes.targets = (classes.targets.array() > 0).cast<double>();
  classes.schema = NumericSchema({"a", "b"}, {"y"});
  classes.schema.classes = {"low", "high"};
  const Model stack = Fit(classes, SmallStack());
  EXPECT_GT(CountExperts(stack), 1);
  EXPECT_THROW(Changed(stack, [](ModelParts* parts) { parts->members[0].noise_scale = 25; }),
               Error);
  const Matrix p = ModelPredictor(stack, 1).ClassProbabilities(classes.inputs);
  EXPECT_TRUE(p.rowwise().sum().isOnes(1e-12));

  DatasetParts two = Wave(80);
  two.schema = NumericSchema({"a", "b"}, {"y", "z"});
  two.targets.conservativeResize(Eigen::NoChange, 2);
  two.targets.col(1) = 3 * two.targets.col(0).array() - 1;
  two.weights = Vector::LinSpaced(80, 0.5, 2);
  const Prediction y = ModelPredictor(Fit(two, SmallStack()), 1).Predict(two.inputs);
  EXPECT_EQ(y.Mean().cols(), 2);
  EXPECT_TRUE(y.Mean().allFinite());
}

TEST(Stack, RefusesNetworksThatAreNotItsOwn) {
  const DatasetParts dataset = Wave(60);
  const TestFolder folder;
  FitControl control;
  control.checkpoint = folder.Path("checkpoint");
  control.callback = [](const Progress& progress) { return progress.step < 33; };
  Fit(dataset, SmallStack(), control);
  const Checkpoint checkpoint = LoadCheckpoint(control.checkpoint);
  ASSERT_EQ(checkpoint.done.size(), 5U);
  Checkpoint bad = checkpoint;
  bad.done[4].summary.reason = StopReason::kInterrupted;
  EXPECT_THROW(Resume(dataset, bad), Error);
  bad = checkpoint;
  bad.done.insert(bad.done.end(), 9, checkpoint.done[0]);
  EXPECT_THROW(Resume(dataset, bad), Error);
  bad = checkpoint;
  bad.done[0].recipe.architecture.inducing.clear();
  EXPECT_THROW(Resume(dataset, bad), Error);
  bad = checkpoint;
  bad.done[0].recipe.inference = Inference::kEp;
  EXPECT_THROW(Resume(dataset, bad), Error);
}

// A fit in which one training, once, comes to a numerical failure after so many steps in all.
Model FitWithFailure(const DatasetParts& dataset, Index step) {
  bool failed = false;
  FitControl control;
  control.callback = [&](const Progress& progress) {
    if (progress.step == step && !std::exchange(failed, true)) throw NumericalError("no way on");
    return true;
  };
  return Fit(dataset, SmallStack(), control);
}

TEST(Stack, DoesWithoutAKindThatCannotBeTrained) {
  const DatasetParts dataset = Wave(60);
  constexpr Index kSteps = 6;  // of each kind
  EXPECT_THROW(FitWithFailure(dataset, 2), NumericalError);
  for (Index kind = 1; kind < 5; ++kind) {
    const Model stack = FitWithFailure(dataset, kind * kSteps + 2);
    EXPECT_EQ(stack.summary().reason, StopReason::kFinished);
    const Recipe missing = StackRecipes(SmallStack(), dataset)[static_cast<std::size_t>(kind)];
    Index first_kind = 0;  // for which the others stand in while they are not judged
    for (const Member& member : stack.members()) {
      const auto is = [network = NetworkOf(member)](const Architecture& other) {
        return network.propagation == other.propagation &&
               network.layers.size() == other.hidden.size() + 1;
      };
      EXPECT_FALSE(is(missing.architecture));
      if (is(SmallStack().architecture) && member.noise_scale == 1) ++first_kind;
      EXPECT_EQ(member.summary.rows, 60);
    }
    EXPECT_LE(first_kind, 1);
    EXPECT_TRUE(ModelPredictor(stack, 1).Predict(dataset.inputs).Mean().allFinite());
  }
}

TEST(Stack, KeepsANetworkThatCannotGoOnAsItWas) {
  const DatasetParts dataset = Wave(60);
  const Model stack = FitWithFailure(dataset, 5 * 6 + 1);
  const Model whole = Fit(dataset, SmallStack());
  std::vector<Index> rows;
  for (const Member& member : stack.members())
    if (member.noise_scale == 1) rows.push_back(member.summary.rows);
  EXPECT_EQ(std::count(rows.begin(), rows.end(), 54), 1);
  EXPECT_EQ(CountExperts(stack), CountExperts(whole));
  EXPECT_EQ(stack.summary().steps, whole.summary().steps - 6);
}

TEST(Stack, KeepsToItsTimeBudget) {
  Recipe recipe = SmallStack();
  recipe.optimizer.steps = 0;
  recipe.optimizer.time_budget = 0.05;
  const Model stack = Fit(Wave(60), recipe);
  EXPECT_LT(stack.summary().steps,
            5 * 4 * DefaultSteps(60));  // what its kinds would take with time
  EXPECT_TRUE(ModelPredictor(stack, 1).Predict(Wave(7).inputs).Mean().allFinite());
}

TEST(Stack, DoesNotDependOnTheThreads) {
  Recipe recipe = SmallStack();
  const Model one = Fit(Wave(60), recipe);
  recipe.threads = 3;
  ExpectSamePredictions(one, Fit(Wave(60), recipe));
}

TEST(Stack, ReportsCountOnFromNetworkToNetwork) {
  std::vector<EpochMetrics> epochs;
  FitControl control;
  control.on_epoch = [&](const EpochMetrics& metrics) { epochs.push_back(metrics); };
  const Model stack = Fit(Wave(60), SmallStack(), control);
  ASSERT_FALSE(epochs.empty());
  EXPECT_EQ(epochs.front().stage, 0);
  for (std::size_t e = 1; e < epochs.size(); ++e) {
    const bool next = epochs[e].stage != epochs[e - 1].stage;
    EXPECT_EQ(epochs[e].stage, epochs[e - 1].stage + (next ? 1 : 0));
    EXPECT_EQ(epochs[e].epoch, next ? 1 : epochs[e - 1].epoch + 1);
    EXPECT_GT(epochs[e].step, epochs[e - 1].step);
    EXPECT_GT(epochs[e].seconds, epochs[e - 1].seconds);
  }
  EXPECT_EQ(epochs.back().step, stack.summary().steps);
  EXPECT_LE(epochs.back().seconds, stack.summary().seconds);
}

// A network that has just begun must not spoil those that are done.
TEST(Stack, ThatIsCutHasSharesByWhatItsNetworksHaveLearnt) {
  const DatasetParts dataset = Wave(600);
  Recipe recipe = SmallStack();
  recipe.optimizer.steps = 100;
  recipe.optimizer.warm_up = 10;
  FitControl control;
  control.callback = [](const Progress& progress) { return progress.step < 101; };
  const Model cut = Fit(dataset, recipe, control);
  ASSERT_EQ(cut.summary().reason, StopReason::kInterrupted);
  EXPECT_EQ(LeadingNetwork(cut).layers.size(), 2U);
  double weight = 0;
  for (const Member& member : cut.members())
    if (member.expert == cut.leader().expert) weight += member.weight;
  EXPECT_GT(weight, 0.9);
}

// Steps of all stages count on, so that every stage is interrupted somewhere.
class InterruptedStack : public testing::TestWithParam<Index> {};

TEST_P(InterruptedStack, IsUsableAndResumesToTheSameBits) {
  const DatasetParts dataset = Wave(60);
  const TestFolder folder;
  FitControl control;
  control.checkpoint = folder.Path("checkpoint");
  control.origin = "a place";
  control.callback = [](const Progress& progress) { return progress.step < GetParam(); };
  // Some networks of the second one take more steps than planned, which the others must not.
  Recipe precise = SmallStack();
  precise.low_noise_steps = 12;
  precise.start.output_noise = 1e-3;
  for (const Recipe& recipe : {SmallStack(), precise}) {
    const Model cut = Fit(dataset, recipe, control);
    EXPECT_EQ(cut.summary().reason, StopReason::kInterrupted);
    EXPECT_EQ(cut.summary().steps, GetParam());
    EXPECT_TRUE(ModelPredictor(cut, 1).Predict(dataset.inputs).Mean().allFinite());
    const Checkpoint checkpoint = LoadCheckpoint(control.checkpoint);
    const Model whole = Resume(dataset, checkpoint);
    const Model uncut = Fit(dataset, recipe);
    EXPECT_EQ(whole.summary().steps, uncut.summary().steps);
    ExpectSamePredictions(uncut, whole);

    // And once more, in what may be another network, which knows as well where its table is.
    FitControl again;
    again.checkpoint = folder.Path("second");
    again.callback = [](const Progress& progress) { return progress.step < GetParam() + 7; };
    if (Resume(dataset, checkpoint, again).summary().reason == StopReason::kInterrupted) {
      EXPECT_EQ(LoadCheckpoint(again.checkpoint).data.origin, "a place");
      ExpectSamePredictions(uncut, Resume(dataset, LoadCheckpoint(again.checkpoint)));
    }
    DatasetParts other = dataset;
    other.targets(5, 0) += 1;
    EXPECT_THROW(Resume(other, LoadCheckpoint(control.checkpoint)), Error);
  }
}

INSTANTIATE_TEST_SUITE_P(Steps, InterruptedStack,
                         testing::Values(2, 6, 11, 15, 21, 27, 30, 31, 36, 40, 45));

}  // namespace
}  // namespace fathom
