#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "fathom/evaluate/metrics.h"
#include "fathom/fit/fit.h"
#include "fathom/fitted/describe.h"
#include "fathom/fitted/predictor.h"
#include "fathom/fitted/relevance.h"
#include "fathom/inference/aep_energy.h"
#include "tests/support/changed_model.h"

namespace fathom {
namespace {

DatasetParts MakeData(Matrix inputs, Matrix targets) {
  DatasetParts data;
  data.source = "test";
  std::vector<std::string> input_names;
  std::vector<std::string> target_names;
  for (Index q = 0; q < inputs.cols(); ++q) input_names.emplace_back(1, static_cast<char>('a' + q));
  for (Index d = 0; d < targets.cols(); ++d)
    target_names.emplace_back(1, static_cast<char>('y' + d));
  data.schema = NumericSchema(input_names, target_names);
  data.inputs = Moments::Certain(std::move(inputs));
  data.targets = std::move(targets);
  return data;
}

// As a file gives it: a missing cell is NaN with variance NaN.
void Remove(Index n, Index q, DatasetParts* data) {
  data->inputs.mean(n, q) = std::numeric_limits<double>::quiet_NaN();
  data->inputs.var(n, q) = std::numeric_limits<double>::quiet_NaN();
}

// A smooth function of the first column of D, with a little noise.
DatasetParts Sine(Index N, Index D, std::uint64_t seed = 1) {
  RandomStream stream(seed);
  Matrix x = stream.NormalMatrix(N, D);
  Matrix y(N, 1);
  for (Index n = 0; n < N; ++n) y(n, 0) = std::sin(2 * x(n, 0)) + 0.05 * stream.Normal();
  return MakeData(std::move(x), std::move(y));
}

Recipe SmallRecipe(Index steps = 40) {
  Recipe recipe;
  recipe.stack = Stacking::kNever;
  recipe.architecture.hidden = {2};
  recipe.architecture.inducing = {8};
  recipe.optimizer.steps = steps;
  recipe.optimizer.warm_up = 5;
  recipe.optimizer.batch_size = 1000;
  recipe.threads = 1;
  return recipe;
}

std::function<bool(const Progress&)> StopAfter(Index steps) {
  return [steps](const Progress& progress) { return progress.step < steps; };
}

Prediction PredictWith(const Model& model, const Moments& x, const PredictOptions& options = {}) {
  return ModelPredictor(model, 1).Predict(x, options);
}

TEST(Fit, LearnsASineBetterThanItsMean) {
  const DatasetParts train = Sine(60, 1);
  const DatasetParts test = Sine(60, 1, 2);
  for (const std::vector<Index>& hidden : {std::vector<Index>{}, {2}}) {
    Recipe recipe = SmallRecipe(60);
    recipe.architecture.hidden = hidden;
    recipe.optimizer.learning_rate = 0.1;
    const Model model = Fit(train, recipe);
    EXPECT_EQ(model.summary().reason, StopReason::kFinished);
    EXPECT_EQ(model.summary().rows, 60);
    EXPECT_EQ(model.summary().steps, 60);
    EXPECT_TRUE(std::isfinite(model.summary().energy_per_row));
    const Prediction prediction = PredictWith(model, test.inputs);
    const double error = (prediction.Mean() - test.targets).squaredNorm();
    const double baseline = (test.targets.array() - train.targets.mean()).square().sum();
    EXPECT_LT(error, 0.2 * baseline) << hidden.size() << " hidden layers";
    double log_density = 0;
    double baseline_density = 0;
    const double variance = (train.targets.array() - train.targets.mean()).square().mean();
    for (Index n = 0; n < 60; ++n) {
      log_density += prediction.LogDensity(n, test.targets.row(n));
      baseline_density += LogNormalPdf(test.targets(n, 0), train.targets.mean(), variance);
    }
    EXPECT_GT(log_density, baseline_density + 20);
  }
}

TEST(Fit, UnitsOfTheTargetDoNotMatter) {
  const DatasetParts data = Sine(50, 2);
  const Model plain = Fit(data, SmallRecipe());
  DatasetParts scaled = data;
  scaled.targets = (1e4 * data.targets.array() - 3e5).matrix();
  const Model other = Fit(scaled, SmallRecipe());
  const Prediction before = PredictWith(plain, data.inputs);
  const Prediction after = PredictWith(other, data.inputs);
  const Matrix mean = ((after.Mean().array() + 3e5) / 1e4).matrix();
  EXPECT_LT((mean - before.Mean()).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((after.Variance() / 1e8 - before.Variance()).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(Fit, UnitsOfTheInputsDoNotMatter) {
  const DatasetParts data = Sine(50, 2);
  const Model plain = Fit(data, SmallRecipe());
  DatasetParts scaled = data;
  scaled.inputs.mean.col(0) = (1e-3 * data.inputs.mean.col(0).array() + 7).matrix();
  scaled.inputs.mean.col(1) = (2e3 * data.inputs.mean.col(1).array() + 50).matrix();
  const Model other = Fit(scaled, SmallRecipe());
  const Prediction before = PredictWith(plain, data.inputs);
  const Prediction after = PredictWith(other, scaled.inputs);
  EXPECT_LT((after.Mean() - before.Mean()).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((after.Variance() - before.Variance()).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(Fit, UnitsOfAnInputsVarianceFollow) {
  DatasetParts data = Sine(40, 2);
  data.inputs.var.col(1).setConstant(0.2);
  const Model plain = Fit(data, SmallRecipe(20));
  DatasetParts scaled = data;
  scaled.inputs.mean.col(1) *= 100;
  scaled.inputs.var.col(1) *= 1e4;
  const Model other = Fit(scaled, SmallRecipe(20));
  const Matrix before = PredictWith(plain, data.inputs).Mean();
  EXPECT_LT((PredictWith(other, scaled.inputs).Mean() - before).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(Fit, ThreadsAndRepetitionDoNotChangeABit) {
  const DatasetParts data = Sine(60, 2);
  Recipe recipe = SmallRecipe(15);
  recipe.optimizer.batch_size = 20;
  const Matrix first = PredictWith(Fit(data, recipe), data.inputs).Mean();
  EXPECT_EQ(PredictWith(Fit(data, recipe), data.inputs).Mean(), first);
  recipe.threads = 2;
  EXPECT_EQ(PredictWith(Fit(data, recipe), data.inputs).Mean(), first);
  recipe.seed = 2;
  EXPECT_NE(PredictWith(Fit(data, recipe), data.inputs).Mean(), first);
}

TEST(Fit, AConstantTargetHasASpreadOfItsOwnSizeThatShrinksWithTheRows) {
  for (const Index rows : {3, 30, 300}) {
    DatasetParts data = Sine(rows, 2);
    data.targets.setConstant(42);
    const Prediction prediction = PredictWith(Fit(data, SmallRecipe()), data.inputs);
    const double sd = 42 / std::sqrt(static_cast<double>(rows + 1));
    EXPECT_LT((prediction.Mean().array() - 42).abs().maxCoeff(), 0.2 * sd) << rows;
    EXPECT_GE(std::sqrt(prediction.Variance().minCoeff()), sd) << rows;
    EXPECT_LT(std::sqrt(prediction.Variance().maxCoeff()), 42) << rows;
    // In other units it is the same.
    data.targets *= -1e-3;
    const Prediction other = PredictWith(Fit(data, SmallRecipe()), data.inputs);
    EXPECT_TRUE(other.Variance().isApprox(1e-6 * prediction.Variance(), 1e-9)) << rows;
  }
}

TEST(Fit, OneRow) {
  const DatasetParts data = MakeData(Matrix{{1.0, 2.0}}, Matrix{{5.0}});
  const Model model = Fit(data, SmallRecipe(10));
  const Prediction prediction = PredictWith(model, data.inputs);
  EXPECT_NEAR(prediction.Mean()(0, 0), 5, 0.5);
  EXPECT_GT(prediction.Variance()(0, 0), 0);
}

TEST(Fit, DuplicateAndConstantColumns) {
  const DatasetParts plain = Sine(40, 1);
  Matrix x(40, 4);
  x << plain.inputs.mean, plain.inputs.mean, Matrix::Constant(40, 1, 3), 2 * plain.inputs.mean;
  const DatasetParts data = MakeData(x, plain.targets);
  Recipe recipe = SmallRecipe(60);
  recipe.optimizer.learning_rate = 0.1;
  const Prediction prediction = PredictWith(Fit(data, recipe), data.inputs);
  const double baseline = (data.targets.array() - data.targets.mean()).square().sum();
  EXPECT_LT((prediction.Mean() - data.targets).squaredNorm(), 0.3 * baseline);
}

TEST(Fit, DuplicateRows) {
  DatasetParts data = Sine(30, 2);
  data.inputs.mean.bottomRows(20).rowwise() = data.inputs.mean.row(0).eval();
  const Prediction prediction = PredictWith(Fit(data, SmallRecipe(20)), data.inputs);
  EXPECT_TRUE(prediction.Mean().allFinite());
  EXPECT_TRUE((prediction.Variance().array() > 0).all());
}

TEST(Fit, MoreColumnsThanRows) {
  const DatasetParts data = Sine(6, 15);
  const Model model = Fit(data, SmallRecipe(15));
  EXPECT_EQ(LeadingNetwork(model).layers[0].gps[0].num_inducing(), 6);
  EXPECT_TRUE(PredictWith(model, data.inputs).Mean().allFinite());
}

TEST(Fit, MissingCellsAreTakenAndWidenThePrediction) {
  DatasetParts data = Sine(60, 2);
  for (Index n = 0; n < 60; n += 7) Remove(n, 1, &data);
  Recipe recipe = SmallRecipe(60);
  recipe.optimizer.learning_rate = 0.1;
  const Model model = Fit(data, recipe);
  DatasetParts probe = Sine(2, 2);
  probe.inputs.mean.row(0) << 0.2, 0.1;
  probe.inputs.mean.row(1) << 0.2, 0.1;
  Remove(1, 0, &probe);  // the column that matters
  const Prediction prediction = PredictWith(model, probe.inputs);
  EXPECT_TRUE(prediction.Mean().allFinite());
  EXPECT_GT(prediction.Variance()(1, 0), 2 * prediction.Variance()(0, 0));
  // A whole row without a number is the least known of all, and still a prediction.
  Remove(1, 1, &probe);
  EXPECT_TRUE(PredictWith(model, probe.inputs).Mean().allFinite());
}

TEST(Fit, SeveralTargets) {
  DatasetParts data = Sine(50, 2);
  Matrix targets(50, 2);
  targets << data.targets, -100 * data.targets;
  data = MakeData(data.inputs.mean, targets);
  Recipe recipe = SmallRecipe(60);
  recipe.optimizer.learning_rate = 0.1;
  const Prediction prediction = PredictWith(Fit(data, recipe), data.inputs);
  for (Index d = 0; d < 2; ++d) {
    const double baseline = (targets.col(d).array() - targets.col(d).mean()).square().sum();
    EXPECT_LT((prediction.Mean().col(d) - targets.col(d)).squaredNorm(), 0.5 * baseline) << d;
  }
}

TEST(Fit, EveryKindOfModelTrains) {
  const DatasetParts data = Sine(40, 3);
  std::vector<Recipe> recipes;
  recipes.push_back(SmallRecipe(10));
  recipes.back().architecture.hidden = {2, 3};
  recipes.push_back(SmallRecipe(10));
  recipes.back().architecture.skip_links = true;
  recipes.push_back(SmallRecipe(10));
  recipes.back().architecture.linear_mean = true;
  recipes.push_back(SmallRecipe(10));
  recipes.back().architecture.shared = true;
  recipes.push_back(SmallRecipe(10));
  recipes.back().architecture.site_form = true;
  recipes.back().start.start = Start::kPaper;
  for (const double alpha : {0.0, 1.0}) {
    recipes.push_back(SmallRecipe(10));
    recipes.back().alpha = alpha;
  }
  for (const char* kernel : {"linear_ard", "spectral_mixture", "spectral_mixture:3"}) {
    recipes.push_back(SmallRecipe(10));
    recipes.back().architecture.kernel = kernel;
  }
  for (const Propagation propagation : {Propagation::kSamples, Propagation::kPoints}) {
    recipes.push_back(SmallRecipe(10));
    recipes.back().architecture.propagation = propagation;
  }
  for (std::size_t i = 0; i < recipes.size(); ++i) {
    Recipe still = recipes[i];
    still.optimizer.steps = 1;
    still.optimizer.learning_rate = 1e-9;
    const Model before = Fit(data, still);
    const Model after = Fit(data, recipes[i]);
    EXPECT_GT(after.summary().energy_per_row, before.summary().energy_per_row) << "recipe " << i;
    EXPECT_EQ(after.summary().recoveries, 0) << "recipe " << i;
  }
}

// Two branches, y = -1 or 1 at random: no Gaussian can say so, a mixture of paths can.
TEST(Fit, PointsLearnTwoBranches) {
  RandomStream stream(8);
  const auto branches = [&](Index rows) {
    DatasetParts data = Sine(rows, 1);
    for (Index n = 0; n < rows; ++n)
      data.targets(n, 0) = (stream.Uniform() < 0.5 ? -1 : 1) + 0.1 * stream.Normal();
    return data;
  };
  const DatasetParts train = branches(200);
  const DatasetParts test = branches(200);
  const auto score = [&](Propagation propagation) {
    Recipe recipe = SmallRecipe(300);
    recipe.architecture.propagation = propagation;
    recipe.optimizer.learning_rate = 0.05;
    const ModelPredictor model(Fit(train, recipe), 1);
    return Evaluate(model.Predict(test.inputs), test.targets).mean_log_likelihood;
  };
  const double one_gaussian = -0.5 * std::log(2 * std::numbers::pi * 1.01) - 0.5;
  EXPECT_NEAR(score(Propagation::kMoments), one_gaussian, 0.05);
  EXPECT_GT(score(Propagation::kPoints), one_gaussian + 0.5);
}

TEST(Fit, LinearKernelFindsALine) {
  RandomStream stream(3);
  const Matrix x = stream.NormalMatrix(80, 3);
  Matrix y(80, 1);
  for (Index n = 0; n < 80; ++n) y(n, 0) = 2 * x(n, 0) - x(n, 1) + 0.1 * stream.Normal();
  const Matrix x_test = 3 * stream.NormalMatrix(20, 3);  // beyond the data: a line goes on
  const Matrix y_test = 2 * x_test.col(0) - x_test.col(1);
  Recipe recipe = SmallRecipe(200);
  recipe.architecture.hidden = {};
  recipe.architecture.kernel = "linear_ard";
  recipe.optimizer.learning_rate = 0.1;
  const Model model = Fit(MakeData(x, y), recipe);
  const Prediction prediction = PredictWith(model, Moments::Certain(x_test));
  EXPECT_LT((prediction.Mean() - y_test).squaredNorm(), 0.02 * y_test.squaredNorm());
  EXPECT_GT(prediction.Variance().minCoeff(), 0);
  // The unit input that says nothing has lost its variance.
  const Vector& variances = LeadingNetwork(model).layers[0].gps[0].theta;
  EXPECT_LT(variances[2], variances[0]);
}

TEST(Fit, InterruptedTrainingKeepsWhatWasReached) {
  const DatasetParts data = Sine(40, 2);
  const Model model = Fit(data, SmallRecipe(50), {.callback = StopAfter(5)});
  EXPECT_EQ(model.summary().reason, StopReason::kInterrupted);
  EXPECT_EQ(model.summary().steps, 5);
  EXPECT_TRUE(PredictWith(model, data.inputs).Mean().allFinite());
}

TEST(Fit, NoiseStaysAboveTheFloor) {
  DatasetParts data = Sine(40, 1);
  data.targets.setConstant(1);
  Recipe recipe = SmallRecipe(60);
  recipe.optimizer.learning_rate = 1;
  recipe.noise_floor = 1e-2;
  const Model model = Fit(data, recipe);
  EXPECT_GE(LeadingNetwork(model).likelihood_parameters.minCoeff(), 1e-2);
  EXPECT_GE(LeadingNetwork(model).layers[0].noise_variance.minCoeff(), 1e-2);
}

TEST(Fit, EnergyOfALargeTableIsEstimatedWell) {
  const DatasetParts data = Sine(12000, 1);
  Recipe recipe = SmallRecipe(20);
  recipe.architecture.hidden = {};
  const Model model = Fit(data, recipe);
  const Moments x = StandardizeInputs(model.leader().input_scaler, data.inputs);
  const Matrix y = StandardizeTargets(model.leader().target_scaler, data.targets);
  const ThreadPool pool(1);
  std::vector<Index> all(static_cast<std::size_t>(data.inputs.rows()));
  std::iota(all.begin(), all.end(), Index{0});
  const AepEnergy energy(LeadingNetwork(model), x, y, {.alpha = recipe.alpha}, pool);
  const double exact = energy.Energy(LeadingNetwork(model), all, nullptr).F / 12000;
  EXPECT_NEAR(model.summary().energy_per_row, exact, 0.05);
  EXPECT_NE(model.summary().energy_per_row, exact) << "a sample was expected to be used";
}

TEST(Describe, NamesColumnsThatNeverVary) {
  DatasetParts data = Sine(10, 3);
  data.inputs.mean.col(1).setConstant(4);
  EXPECT_EQ(ConstantColumns(Fit(data, SmallRecipe(1))), std::vector<std::string>{"b"});
  data.targets.setConstant(-1);
  EXPECT_EQ(ConstantColumns(Fit(data, SmallRecipe(1))), (std::vector<std::string>{"b", "y"}));
}

TEST(Fit, RefusesDataAndOptionsThatCannotBeUsed) {
  const auto complaint = [](const DatasetParts& data, const Recipe& recipe) -> std::string {
    try {
      Fit(data, recipe);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  const auto expect = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << "'" << text << "' lacks '" << part << "'";
  };
  const DatasetParts data = Sine(5, 1);
  expect(complaint(MakeData(Matrix(0, 1), Matrix(0, 1)), SmallRecipe()), "no rows");
  expect(complaint(MakeData(Matrix(3, 0), Matrix::Ones(3, 1)), SmallRecipe()), "no input");
  expect(complaint(MakeData(Matrix::Ones(3, 1), Matrix(3, 0)), SmallRecipe()), "no target");
  DatasetParts broken = data;
  broken.targets(2, 0) = std::nan("");
  expect(complaint(broken, SmallRecipe()), "target");
  Recipe recipe = SmallRecipe();
  recipe.alpha = 1.5;
  expect(complaint(data, recipe), "alpha");
  recipe = SmallRecipe();
  recipe.architecture.hidden = {0};
  expect(complaint(data, recipe), "hidden");
  recipe = SmallRecipe();
  recipe.architecture.inducing = {};
  expect(complaint(data, recipe), "inducing");
  recipe = SmallRecipe();
  recipe.architecture.inducing = {5, 5, 5};
  expect(complaint(data, recipe), "inducing");
  recipe = SmallRecipe();
  recipe.optimizer.learning_rate = -1;
  expect(complaint(data, recipe), "learning_rate");
  recipe = SmallRecipe();
  recipe.optimizer.batch_size = 0;
  expect(complaint(data, recipe), "batch");
  recipe = SmallRecipe();
  recipe.optimizer.warm_up = -1;
  expect(complaint(data, recipe), "warm_up");
  recipe = SmallRecipe();
  recipe.optimizer.patience = -1;
  expect(complaint(data, recipe), "patience");
  recipe = SmallRecipe();
  recipe.start.lengthscale = 0;
  expect(complaint(data, recipe), "lengthscale");
  recipe = SmallRecipe();
  recipe.start.hidden_noise = std::nan("");
  expect(complaint(data, recipe), "hidden_noise");
  recipe = SmallRecipe();
  recipe.start.sample_rows = 0;
  expect(complaint(data, recipe), "sample_rows");
  recipe = SmallRecipe();
  recipe.threads = -1;
  expect(complaint(data, recipe), "threads");
  recipe = SmallRecipe();
  recipe.noise_floor = std::nan("");
  expect(complaint(data, recipe), "noise_floor");
}

}  // namespace
}  // namespace fathom
