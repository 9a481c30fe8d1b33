#include "fathom/fitted/describe.h"
#include "fathom/fitted/relevance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/random.h"
#include "fathom/fit/fit.h"
#include "tests/support/changed_model.h"

namespace fathom {
namespace {

// y = 3 a + b, of columns in different units, with a third one that means nothing.
DatasetParts Plane() {
  RandomStream stream(5);
  DatasetParts dataset;
  dataset.source = "plane";
  dataset.schema = NumericSchema({"a", "b", "c"}, {"y"});
  const Matrix x = stream.NormalMatrix(300, 3);
  dataset.targets = 3 * x.col(0) + x.col(1) + 0.1 * stream.NormalMatrix(300, 1);
  dataset.inputs = Moments::Certain(x * Eigen::Vector3d(1, 100, 0.01).asDiagonal());
  return dataset;
}

class FoundRelevance : public testing::TestWithParam<Recipe> {};

TEST_P(FoundRelevance, IsTheSlopePerStandardDeviation) {
  Recipe recipe = GetParam();
  recipe.architecture.hidden = {2};
  recipe.architecture.inducing = {20, 15};
  recipe.optimizer.steps = 150;
  recipe.optimizer.warm_up = 10;
  const Relevance relevance = FindRelevance(Fit(Plane(), recipe));
  ASSERT_EQ(relevance.share.cols(), 3);
  EXPECT_DOUBLE_EQ(relevance.share(0, 0), 1);
  EXPECT_NEAR(relevance.share(0, 1), 1.0 / 3, 0.1);
  EXPECT_LT(relevance.share(0, 2), 0.1);
  EXPECT_EQ(relevance.lengthscale.size(), 3);
}

Recipe Plain() { return {}; }
Recipe WhitenedInputs() {
  Recipe recipe;
  recipe.whitening = Whitening::kAlways;
  return recipe;
}
Recipe Sampled() {
  Recipe recipe;
  recipe.architecture.propagation = Propagation::kSamples;
  recipe.architecture.skip_links = true;
  return recipe;
}
INSTANTIATE_TEST_SUITE_P(Models, FoundRelevance,
                         testing::Values(Plain(), WhitenedInputs(), Sampled()));

// Two networks, one of which has learnt the first input and one the second.
TEST(StackRelevance, CountsNetworksByTheirShares) {
  Recipe recipe;
  recipe.architecture.hidden = {};
  recipe.architecture.inducing = {20};
  recipe.optimizer.steps = 150;
  DatasetParts dataset = Plane();
  const Matrix x = dataset.inputs.mean;
  const auto fit = [&](Index column) {
    dataset.targets = (x.col(column).array() - x.col(column).mean()) /
                      std::sqrt((x.col(column).array() - x.col(column).mean()).square().mean());
    return Fit(dataset, recipe);
  };
  const Model first = fit(0);
  EXPECT_LT(FindRelevance(first).share(0, 1), 0.1);
  const Model stack = Changed(first, [other = fit(1)](ModelParts* parts) {
    parts->members.push_back(other.leader());
    parts->members.push_back(other.leader());
    parts->members[0].weight = 0.8;
    parts->members[1].weight = 0.15;
    parts->members[2].weight = 0.05;
    parts->members[2].noise_scale = 25;
  });
  EXPECT_NEAR(FindRelevance(stack).share(0, 1), std::sqrt(0.2 / 0.8), 0.05);
}

// Means and noises of two targets are four functions.
TEST(FoundRelevanceOfTargets, CountsAllTheirFunctions) {
  DatasetParts dataset = Plane();
  dataset.schema.targets = {"y", "z"};
  dataset.targets.conservativeResize(Eigen::NoChange, 2);
  dataset.targets.col(1) = dataset.inputs.mean.col(1) / 100;
  Recipe recipe;
  recipe.architecture.hidden = {};
  recipe.architecture.inducing = {20};
  recipe.architecture.likelihood = "heteroscedastic";
  recipe.optimizer.steps = 150;
  const Relevance relevance = FindRelevance(Fit(dataset, recipe));
  ASSERT_EQ(relevance.share.rows(), 2);
  EXPECT_EQ(relevance.share(0, 0), 1);
  EXPECT_EQ(relevance.share(1, 1), 1);
  EXPECT_LT(relevance.share(1, 0), 0.5);
}

// By its own units, a lengthscale is that of the kernel times the scale of the column; turned by
// directions, that of all of them together.
TEST(Lengthscales, AreInTheUnitsOfTheColumns) {
  Recipe recipe;
  recipe.architecture.hidden = {};
  recipe.architecture.inducing = {5};
  recipe.optimizer.steps = 1;
  Model model = WithNetwork(Fit(Plane(), recipe), [](DeepGp* network) {
    network->layers[0].gps[0].theta << 4, 0.5, 2, 1;
  });
  model =
      Changed(model, [](ModelParts* parts) { parts->members[0].input_scaler.scale << 10, 3, 1; });
  Relevance relevance = FindRelevance(model);
  EXPECT_DOUBLE_EQ(relevance.lengthscale[0], 5);
  EXPECT_DOUBLE_EQ(relevance.lengthscale[1], 6);
  model = Changed(model, [](ModelParts* parts) {
    Matrix& directions = parts->members[0].input_scaler.directions;
    directions = Matrix::Identity(3, 3);
    directions(0, 1) = 2;
  });
  relevance = FindRelevance(model);
  EXPECT_DOUBLE_EQ(relevance.lengthscale[0], 10 / std::sqrt(1 / 0.25 + 4 / 4.0));
  EXPECT_DOUBLE_EQ(relevance.lengthscale[1], 6);
}

}  // namespace
}  // namespace fathom
