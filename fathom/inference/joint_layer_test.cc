#include "fathom/inference/joint_layer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/error.h"
#include "fathom/inference/aep_energy.h"
#include "fathom/inference/predict.h"
#include "tests/support/energy_gradient.h"
#include "tests/support/random_model.h"

namespace fathom {
namespace {

double FOf(DeepGp model, bool full, const LabelledRows& table, double alpha, int threads = 1) {
  model.full_covariance = full;
  const ThreadPool pool(threads);
  const AepEnergy energy(model, table.x, table.y, {.alpha = alpha}, pool);
  return energy.Energy(model, AllRows(table.x.rows()), nullptr).F;
}

struct FullCase {
  std::string name;
  RandomModelOptions model;
  bool uncertain = false;
  const char* kernel = "se_ard";  // of the upper layers
};

class FullCovarianceOf : public testing::TestWithParam<std::tuple<FullCase, double>> {};
INSTANTIATE_TEST_SUITE_P(
    Models, FullCovarianceOf,
    testing::Combine(
        testing::Values(FullCase{"TwoOutputs", {.hidden = {2}, .outputs = 2, .M = 3}},
                        FullCase{"Three", {.hidden = {2, 2}, .M = 3, .sites = true}},
                        FullCase{"Uncertain", {.hidden = {2}, .M = 3}, true},
                        FullCase{"SkipMean",
                                 {.hidden = {2, 2}, .M = 3, .skip = true, .linear_mean = true}},
                        FullCase{"Shared", {.hidden = {2, 2}, .M = 3, .shared = true}},
                        // The kernel's rank is that of its inputs.
                        FullCase{"Linear", {.hidden = {2, 2}, .M = 2}, false, "linear_ard"},
                        FullCase{"Sum", {.hidden = {2, 2}, .M = 3}, false, "se_ard+linear_ard"}),
        testing::Values(0.0, 0.5, 1.0)),
    [](const auto& test) {
      return std::get<0>(test.param).name + "Alpha" +
             std::to_string(static_cast<int>(10 * std::get<1>(test.param)));
    });

TEST_P(FullCovarianceOf, GradientOfEveryParameter) {
  const auto& [c, alpha] = GetParam();
  RandomStream stream(1);
  DeepGp model = RandomModel(c.model, &stream);
  for (std::size_t l = 1; l < model.layers.size(); ++l) {
    for (SparseGp& gp : model.layers[l].gps) {
      gp.kernel = MakeKernel(c.kernel);
      gp.theta = RandomPositive(gp.kernel->NumParameters(gp.input_dim()), 1.2, &stream);
    }
  }
  SpreadShared(&model);
  model.full_covariance = true;
  const LabelledRows table = RandomRows(5, 2, c.model.outputs, c.uncertain, &stream);
  const ThreadPool pool(1);
  const AepEnergy energy(model, table.x, table.y, {.alpha = alpha}, pool);
  const std::vector<Index> batch = {0, 2, 3};
  ExpectEnergyGradientMatches(energy, Pack(model, energy.packing()), batch, 1e-7);
}

// Nothing is correlated: two layers with one output, or hidden layers of width 1.
TEST(FullCovariance, IsTheDiagonalPropagationWhereNothingIsCorrelated) {
  RandomStream stream(2);
  for (const std::vector<Index>& hidden : {std::vector<Index>{}, {3}, {1, 1}}) {
    for (const bool mean : {false, true}) {
      const DeepGp model = RandomModel({.hidden = hidden, .linear_mean = mean}, &stream);
      const LabelledRows table = RandomRows(20, 2, 1, false, &stream);
      for (const double alpha : {0.0, 0.5, 1.0}) {
        const double F = FOf(model, false, table, alpha);
        EXPECT_NEAR(FOf(model, true, table, alpha), F, 1e-9 * std::abs(F));
      }
      DeepGp full = model;
      full.full_covariance = true;
      const ThreadPool pool(1);
      const Moments expected = NetworkPredictor(model, pool).Predict(table.x, {}).components[0];
      const Moments actual = NetworkPredictor(full, pool).Predict(table.x, {}).components[0];
      EXPECT_LT((actual.mean - expected.mean).cwiseAbs().maxCoeff(), 1e-9);
      EXPECT_LT((actual.var - expected.var).cwiseAbs().maxCoeff(), 1e-9);
    }
  }
}

TEST(FullCovariance, MattersInThreeLayers) {
  RandomStream stream(3);
  const DeepGp model = RandomModel({.hidden = {2, 2}}, &stream);
  const LabelledRows table = RandomRows(20, 2, 1, false, &stream);
  EXPECT_GT(std::abs(FOf(model, true, table, 1) - FOf(model, false, table, 1)), 1e-3);
}

TEST(FullCovariance, AnyNumberOfThreadsGivesTheSameBits) {
  RandomStream stream(4);
  const DeepGp model = RandomModel({.hidden = {2, 2}}, &stream);
  const LabelledRows table = RandomRows(100, 2, 1, true, &stream);
  EXPECT_EQ(FOf(model, true, table, 0.5, 1), FOf(model, true, table, 0.5, 3));
}

TEST(FullCovariance, KernelsWithoutItAreRefused) {
  RandomStream stream(5);
  DeepGp model = RandomModel({.hidden = {2}, .outputs = 2}, &stream);
  const auto set = [&](std::size_t d, const char* name) {
    SparseGp& gp = model.layers[1].gps[d];
    gp.kernel = MakeKernel(name);
    gp.theta = Vector::Ones(gp.kernel->NumParameters(gp.input_dim()));
  };
  set(0, "spectral_mixture");
  set(1, "spectral_mixture");
  EXPECT_THROW(CheckFullCovariance(model, false), Error);
  set(0, "linear_ard");
  set(1, "linear_ard");
  EXPECT_NO_THROW(CheckFullCovariance(model, false));
  set(0, "se_ard");  // two kernels in one layer
  EXPECT_THROW(CheckFullCovariance(model, false), Error);
}

}  // namespace
}  // namespace fathom
