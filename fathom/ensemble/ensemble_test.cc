#include "fathom/ensemble/ensemble.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "fathom/base/random.h"
#include "fathom/fit/resume.h"
#include "fathom/fitted/beyond.h"
#include "fathom/fitted/calibration.h"
#include "fathom/fitted/deep_gp_expert.h"
#include "fathom/fitted/expert.h"
#include "fathom/fitted/prediction_table.h"
#include "fathom/fitted/predictor.h"
#include "fathom/fitted/relevance.h"
#include "fathom/linear/ridge.h"
#include "tests/support/changed_model.h"
#include "tests/support/small_ensemble.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

TEST(Ensemble, PredictsWhatItWasCheckedToPredict) {
  const DatasetParts dataset = Wave(120);
  const Model model = Fit(dataset, SmallStack());
  ASSERT_NE(model.calibration(), nullptr);
  EXPECT_GE(CountKind(model, "neighbour_gp"), 1);
  const HeldOutCheck& check = model.calibration()->check;
  EXPECT_EQ(check.rows, 120);
  EXPECT_LT(check.rmse, 0.4);  // of a target with standard deviation 0.7
  EXPECT_GT(check.coverage_95, 0.9);
  // Rows that nobody has seen are predicted as well as the check says.
  RandomStream stream(4);
  DatasetParts fresh = Wave(120);
  const Matrix x = stream.NormalMatrix(500, 2);
  const Matrix y = (2 * x.col(0)).array().sin().matrix() + 0.1 * stream.NormalMatrix(500, 1);
  const Prediction prediction = ModelPredictor(model, 1).Predict(Moments::Certain(x));
  const double rmse = std::sqrt((prediction.Mean() - y).squaredNorm() / 500);
  EXPECT_LT(rmse, 1.4 * check.rmse);
  Index covered = 0;
  for (Index n = 0; n < 500; ++n) {
    const double below = prediction.Cdf(n, 0, y(n, 0));
    covered += below > 0.025 && below < 0.975 ? 1 : 0;
  }
  EXPECT_GT(covered, 440);
}

// y is a curve of the small difference of two columns that move together. Rows that lie beyond the
// training rows by a hundredth of the range would lose the difference if they were moved to the
// edge of each column.
TEST(Ensemble, ARowAHairBeyondTheTableIsPredictedAsItStands) {
  RandomStream stream(3);
  const auto rows = [&stream](Index count, double from, double to) {
    DatasetParts parts = Wave(count);
    for (Index n = 0; n < count; ++n) {
      const double a = from + (to - from) * stream.Uniform();
      const double difference = 1e-3 * stream.Normal();
      parts.inputs.mean.row(n) << a, a + difference;
      parts.targets(n, 0) = std::sin(2e3 * difference);
    }
    return parts;
  };
  Recipe recipe = SmallStack();
  recipe.local = Local::kOnly;
  recipe.whitening = Whitening::kAuto;
  const Model model = Fit(rows(150, 0, 1), recipe);
  ASSERT_NE(model.calibration()->beyond, nullptr);
  const DatasetParts beyond = rows(50, 1.005, 1.02);
  const Matrix mean = ModelPredictor(model, 1).Predict(beyond.inputs).Mean();
  EXPECT_LT((mean - beyond.targets).cwiseAbs().maxCoeff(), 0.3);
  // The margin is part of the model file.
  const TestFolder folder;
  SaveModel(model, folder.Path("m"));
  EXPECT_EQ(ModelPredictor(LoadModel(folder.Path("m")), 1).Predict(beyond.inputs).Mean(), mean);
}

TEST(Ensemble, ARowsBitsDoNotDependOnTheRowsBesideIt) {
  DatasetParts wave = Wave(300);
  RandomStream stream(4);
  // Noise that differs from place to place, so that the calibration learns it.
  const Matrix& x = wave.inputs.mean;
  for (Index n = 0; n < 300; ++n) wave.targets(n, 0) += std::exp(x(n, 0)) * stream.Normal();
  Recipe recipe = SmallStack();
  recipe.local = Local::kOnly;
  const Model model = Fit(wave, recipe);
  ASSERT_NE(model.calibration()->local_noise, nullptr);
  const ModelPredictor predictor(model, 1);
  const Prediction whole = predictor.Predict(wave.inputs);
  const Matrix mean = whole.Mean(), variance = whole.Variance();
  for (Index n = 0; n < 300; ++n) {
    const Prediction alone = predictor.Predict(Moments::Certain(x.row(n)));
    EXPECT_EQ(alone.Mean()(0, 0), mean(n, 0));
    EXPECT_EQ(alone.Variance()(0, 0), variance(n, 0));
  }
}

TEST(Ensemble, ComesBackFromItsFile) {
  const TestFolder folder;
  for (const Local local : {Local::kAuto, Local::kNever, Local::kOnly}) {
    Recipe recipe = SmallStack();
    recipe.local = local;
    const Model model = Fit(Wave(120), recipe);
    EXPECT_EQ(CountKind(model, "neighbour_gp") > 0, local != Local::kNever);
    // Networks have no place beside neighbours that know everything.
    if (local == Local::kOnly) {
      EXPECT_EQ(CountKind(model, "deep_gp"), 0);
    }
    if (local == Local::kNever) {
      EXPECT_GT(CountKind(model, "deep_gp"), 0);
    }
    SaveModel(model, folder.Path("model.fathom"));
    ExpectSamePredictions(model, LoadModel(folder.Path("model.fathom")));
  }
}

// Where the table jumps, trees know more than functions that are alike everywhere.
TEST(Ensemble, HasTreesWhereTheTableJumps) {
  DatasetParts table = Wave(450);
  RandomStream stream(9);
  table.inputs = Moments::Certain(stream.NormalMatrix(450, 2));
  for (Index n = 0; n < 450; ++n) {
    const double a = table.inputs.mean(n, 0), b = table.inputs.mean(n, 1);
    table.targets(n, 0) = (a > 0.4 ? 3 : 0) - (b > -0.3 && a < 1 ? 5 : 0) + 0.1 * stream.Normal();
  }
  const Model model = Fit(table, SmallStack());
  EXPECT_EQ(CountKind(model, "trees"), 1);
  EXPECT_TRUE(KnowsRelevance(model));
  EXPECT_GT(FindRelevance(model).share.minCoeff(), 0);
  // Rows together have the variances of rows alone.
  const Moments x = Wave(7).inputs;
  const ModelPredictor predictor(model, 1);
  const Matrix alone = predictor.Predict(x).Variance();
  EXPECT_LT((predictor.PredictJoint(x).Variance() - alone).norm(), 1e-9 * alone.norm());
  Recipe recipe = SmallStack();
  recipe.local = Local::kOnly;
  EXPECT_EQ(CountKind(Fit(table, recipe), "trees"), 0);
}

TEST(Ensemble, IsNotWorseThanALineWhereALineIsAllThereIs) {
  RandomStream stream(5);
  DatasetParts line;
  line.source = "line";
  line.schema = NumericSchema({"a", "b", "c"}, {"y"});
  const Vector slopes = Eigen::Vector3d(1, -2, 0.5);
  const auto rows = [&](Index count, Matrix* x, Matrix* y) {
    *x = stream.NormalMatrix(count, 3);
    *y = *x * slopes + 0.5 * stream.NormalMatrix(count, 1);
  };
  Matrix x, y, x_new, y_new;
  rows(150, &x, &y);
  rows(2000, &x_new, &y_new);
  line.inputs = Moments::Certain(x);
  line.targets = y;
  Recipe recipe = SmallStack();
  recipe.local = Local::kOnly;
  const Prediction prediction =
      ModelPredictor(Fit(line, recipe), 1).Predict(Moments::Certain(x_new));
  const Matrix fitted = PredictRidge(FitRidge(line.inputs, y).ridge, Moments::Certain(x_new)).mean;
  EXPECT_LT((prediction.Mean() - y_new).norm(), 1.02 * (fitted - y_new).norm());
}

// Two values of 0 and 1, which a density could sit on.
TEST(Ensemble, IsNeverNarrowerThanTheStepsOfItsTarget) {
  RandomStream stream(6);
  DatasetParts coin = Wave(200);
  for (Index n = 0; n < 200; ++n) coin.targets(n, 0) = stream.Uniform() < 0.3 ? 1 : 0;
  const Model model = Fit(coin, SmallStack());
  const Prediction prediction = ModelPredictor(model, 1).Predict(coin.inputs);
  for (Index n = 0; n < 200; ++n)
    EXPECT_LE(prediction.LogDensity(n, coin.targets.row(n)), 1e-12);  // a probability
  EXPECT_GT(model.calibration()->check.log_likelihood, -0.75);        // a constant has -0.64
}

TEST(Ensemble, OfSeveralWeightedTargets) {
  DatasetParts two = Wave(120);
  two.schema = NumericSchema({"a", "b"}, {"y", "z"});
  two.targets.conservativeResize(Eigen::NoChange, 2);
  two.targets.col(1) = 3 * two.targets.col(0).array() - 1;
  two.weights = Vector::LinSpaced(120, 0.5, 2);
  const Prediction y = ModelPredictor(Fit(two, SmallStack()), 1).Predict(two.inputs);
  EXPECT_EQ(y.Mean().cols(), 2);
  EXPECT_TRUE((y.Mean().col(1).array() - 3 * y.Mean().col(0).array() + 1).abs().maxCoeff() < 0.5);
}

// Every fit of the ensemble counts its steps on, so one of them fails at this step.
TEST(Ensemble, DoesWithoutAKindThatCannotBeTrained) {
  const DatasetParts dataset = Wave(60);
  for (const Index step : {2, 32, 62}) {
    bool failed = false;
    FitControl control;
    control.callback = [&](const Progress& progress) {
      if (progress.step == step && !std::exchange(failed, true)) throw NumericalError("no way on");
      return true;
    };
    const Model model = Fit(dataset, SmallStack(), control);
    EXPECT_EQ(model.summary().reason, StopReason::kFinished);
    EXPECT_TRUE(failed);
    EXPECT_TRUE(ModelPredictor(model, 1).Predict(dataset.inputs).Mean().allFinite());
  }
}

TEST(Ensemble, NetworksLearnFromAllRowsInTheEnd) {
  Recipe recipe = SmallStack();
  recipe.local = Local::kNever;
  const Model model = Fit(Wave(60), recipe);
  Index networks = 0;
  for (const Member& member : model.members()) {
    if (dynamic_cast<const DeepGpExpert*>(member.expert.get()) == nullptr) continue;
    ++networks;
    EXPECT_EQ(member.summary.rows, 60);
    EXPECT_GT(member.summary.steps, member.recipe.optimizer.steps);
  }
  EXPECT_GT(networks, 0);

  // Interrupted there, it is usable, and goes on to the same bits.
  const TestFolder folder;
  FitControl control;
  control.checkpoint = folder.Path("checkpoint");
  const Index all_folds = 3 * 5 * recipe.optimizer.steps;
  control.callback = [&](const Progress& progress) { return progress.step < all_folds + 2; };
  const Model cut = Fit(Wave(60), recipe, control);
  EXPECT_EQ(cut.summary().reason, StopReason::kInterrupted);
  EXPECT_EQ(cut.summary().steps, all_folds + 2);
  EXPECT_TRUE(ModelPredictor(cut, 1).Predict(Wave(7).inputs).Mean().allFinite());
  ExpectSamePredictions(model, Resume(Wave(60), LoadCheckpoint(control.checkpoint)));
}

TEST(Ensemble, KeepsToItsTimeBudget) {
  Recipe recipe = SmallStack();
  recipe.optimizer.steps = 0;
  recipe.optimizer.time_budget = 0.05;
  const Model model = Fit(Wave(60), recipe);
  EXPECT_LT(model.summary().steps, 3 * 5 * 4 * DefaultSteps(60));  // what they would take with time
  EXPECT_TRUE(ModelPredictor(model, 1).Predict(Wave(7).inputs).Mean().allFinite());
}

// Of two targets of different sizes, one of which is missing here and there.
TEST(Ensemble, PredictsEachOfSeveralTargetsAboutAsWellAsAlone) {
  const auto rows_of = [](Index rows, std::uint64_t seed, bool gaps) {
    RandomStream stream(seed);
    DatasetParts dataset;
    dataset.source = "two targets";
    dataset.schema = NumericSchema({"a", "b"}, {"u", "v"});
    const Matrix x = stream.NormalMatrix(rows, 2);
    dataset.inputs = Moments::Certain(x);
    dataset.targets = 0.05 * stream.NormalMatrix(rows, 2);
    dataset.targets.col(0).array() += (2 * x.col(0)).array().sin();
    dataset.targets.col(1).array() += 30 * (x.col(1).array().square() + x.col(0).array());
    for (Index n = 0; gaps && n < rows; n += 7) dataset.targets(n, 1) = std::nan("");
    return dataset;
  };
  const auto rmse_of = [](const Model& model, const DatasetParts& test, Index target) {
    const Matrix mean = ModelPredictor(model, 1).Predict(test.inputs).Mean();
    const Vector error = mean.col(std::min(target, mean.cols() - 1)) - test.targets.col(target);
    return error.norm() / std::sqrt(static_cast<double>(error.size()));
  };
  Recipe recipe;
  recipe.local = Local::kOnly;
  recipe.threads = 1;
  const DatasetParts test = rows_of(400, 2, false);
  for (const Index rows : {120, 300}) {
    const DatasetParts both = rows_of(rows, 1, true);
    const Model together = Fit(both, recipe);
    DatasetParts alone = both;
    alone.schema = NumericSchema({"a", "b"}, {"u"});
    alone.targets = Matrix(both.targets.col(0));
    EXPECT_LT(rmse_of(together, test, 0), 1.3 * rmse_of(Fit(alone, recipe), test, 0)) << rows;
    alone.targets = Matrix(rows_of(rows, 1, false).targets.col(1));
    EXPECT_LT(rmse_of(together, test, 1), 2 * rmse_of(Fit(alone, recipe), test, 1)) << rows;
  }
}

TEST(Ensemble, DoesNotDependOnTheThreads) {
  Recipe recipe = SmallStack();
  const Model one = Fit(Wave(120), recipe);
  recipe.threads = 3;
  ExpectSamePredictions(one, Fit(Wave(120), recipe));
}

TEST(Ensemble, ReportsCountOnFromNetworkToNetwork) {
  std::vector<EpochMetrics> epochs;
  FitControl control;
  control.on_epoch = [&](const EpochMetrics& metrics) { epochs.push_back(metrics); };
  const Model model = Fit(Wave(60), SmallStack(), control);
  ASSERT_FALSE(epochs.empty());
  EXPECT_EQ(epochs.front().stage, 0);
  for (std::size_t e = 1; e < epochs.size(); ++e) {
    const bool next = epochs[e].stage != epochs[e - 1].stage;
    EXPECT_EQ(epochs[e].stage, epochs[e - 1].stage + (next ? 1 : 0));
    EXPECT_EQ(epochs[e].epoch, next ? 1 : epochs[e - 1].epoch + 1);
    EXPECT_GT(epochs[e].step, epochs[e - 1].step);
    EXPECT_GT(epochs[e].seconds, epochs[e - 1].seconds);
  }
  EXPECT_EQ(epochs.back().step, model.summary().steps);
  EXPECT_LE(epochs.back().seconds, model.summary().seconds);
}

TEST(Members, MoreNoiseIsThatOfFiveTimesTheDeviation) {
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

// Steps of all networks count on, so that every kind is interrupted somewhere.
// Far outside, the error bars are wider than inside, rows inside keep their bits whatever stands
// beside them, and a saved model does the same.
TEST(Ensemble, GrowsItsErrorBarsBeyondTheTable) {
  RandomStream stream(11);
  DatasetParts curve;
  curve.schema = NumericSchema({"t"}, {"y"});
  Matrix t(120, 1);
  for (Index n = 0; n < t.rows(); ++n) t(n, 0) = static_cast<double>(n) / 20;
  curve.inputs = Moments::Certain(t);
  curve.targets = t.array().square().matrix() + 0.1 * stream.NormalMatrix(120, 1);
  Recipe recipe;
  recipe.local = Local::kOnly;
  recipe.threads = 1;
  const Model model = Fit(curve, recipe);
  ASSERT_NE(model.calibration(), nullptr);
  ASSERT_NE(model.calibration()->beyond, nullptr);
  EXPECT_EQ(model.data().range, FindInputRange(curve.inputs));
  const Moments x = Moments::Certain((Matrix(4, 1) << 3, 5.95, 6.5, 9).finished());
  const ModelPredictor predictor(model, 1);
  const Prediction y = predictor.Predict(x);
  const Matrix sd = y.Variance().cwiseSqrt();
  EXPECT_LT(sd(0, 0), sd(2, 0));
  EXPECT_LT(sd(2, 0), sd(3, 0));
  EXPECT_LT(std::abs(y.Mean()(2, 0) - 6.5 * 6.5), 3 * sd(2, 0));
  const Prediction alone = predictor.Predict(Moments::Certain(x.mean.topRows(1)));
  EXPECT_EQ(alone.Mean()(0, 0), y.Mean()(0, 0));
  EXPECT_EQ(alone.Variance()(0, 0), y.Variance()(0, 0));
  const Model loaded = ModelFromBytes("model", ModelToBytes(model));
  EXPECT_EQ(ModelPredictor(loaded, 1).Predict(x).Mean(), y.Mean());
  EXPECT_EQ(ModelPredictor(loaded, 1).Predict(x).Variance(), y.Variance());
  const Dataset rows(DatasetParts{.schema = curve.schema, .inputs = x, .targets = Matrix(4, 0)});
  const Table table = PredictTable(predictor, rows, {}, {.outside = true});
  EXPECT_EQ(table.columns.back(), "outside");
  EXPECT_EQ(table.values.rightCols(1), (Matrix(4, 1) << 0, 0, 1, 1).finished());
}

}  // namespace
}  // namespace fathom
