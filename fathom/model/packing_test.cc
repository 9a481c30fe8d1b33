#include "fathom/model/packing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "fathom/base/error.h"
#include "tests/support/gradient.h"
#include "tests/support/random_model.h"

namespace fathom {
namespace {

// All numbers of a model, in the order of Parameters().
Vector Numbers(DeepGp model) {
  std::vector<double> numbers;
  for (const ParameterArray& array : Parameters(&model))
    numbers.insert(numbers.end(), array.data, array.data + array.size);
  return Eigen::Map<Vector>(numbers.data(), static_cast<Index>(numbers.size()));
}

class PackingOf : public testing::TestWithParam<RandomModelOptions> {};
INSTANTIATE_TEST_SUITE_P(
    Models, PackingOf,
    testing::Values(RandomModelOptions{}, RandomModelOptions{.hidden = {2, 3}, .outputs = 2},
                    RandomModelOptions{.hidden = {2}, .sites = true, .skip = true},
                    RandomModelOptions{.hidden = {3}, .outputs = 2, .shared = true}));

TEST_P(PackingOf, RoundTrip) {
  RandomStream stream(1);
  const DeepGp model = RandomModel(GetParam(), &stream);
  for (const double floor : {0.0, 1e-3}) {
    const Packing packing{floor};
    const Vector packed = Pack(model, packing);
    EXPECT_EQ(packed.size(), NumUnconstrained(model));
    DeepGp back = RandomModel(GetParam(), &stream);
    Unpack(packed, packing, &back);
    EXPECT_LT((Numbers(back) - Numbers(model)).cwiseAbs().maxCoeff(), 1e-14);
    EXPECT_NO_THROW(CheckModel(back));
    for (const GpLayer& layer : back.layers) {
      for (const SparseGp& gp : layer.gps) {
        if (layer.shared) {
          EXPECT_EQ(gp.Z, layer.gps[0].Z);
          EXPECT_EQ(gp.theta, layer.gps[0].theta);
        }
      }
    }
  }
}

TEST_P(PackingOf, GradientFollowsTheChainRule) {
  RandomStream stream(2);
  const DeepGp model = RandomModel(GetParam(), &stream);
  const Packing packing{0.02};
  // F = sum of weights times numbers, over the functions of a shared layer one by one.
  const DeepGp weights = RandomModel(
      [&] {
        RandomModelOptions options = GetParam();
        options.shared = false;
        return options;
      }(),
      &stream);
  const auto whole = [](DeepGp x) {
    for (GpLayer& layer : x.layers) layer.shared = false;
    return Numbers(std::move(x));
  };
  const Vector w = whole(weights);
  const auto value = [&](const Vector& x) {
    DeepGp moved = model;
    Unpack(x, packing, &moved);
    return w.dot(whole(moved));
  };
  DeepGp gradient = weights;
  for (std::size_t l = 0; l < gradient.layers.size(); ++l)
    gradient.layers[l].shared = model.layers[l].shared;
  Vector packed(NumUnconstrained(model));
  PackGradient(model, packing, &gradient, &packed);
  ExpectGradientMatches(value, packed, Pack(model, packing), 1e-8);
}

TEST(Packing, CountsOnlyFreeNumbers) {
  RandomStream stream(3);
  const DeepGp one = RandomModel({.inputs = 2, .M = 4}, &stream);
  EXPECT_EQ(NumUnconstrained(one), 3 + 8 + 4 + 10 + 1);
  const DeepGp shared = RandomModel({.inputs = 2, .outputs = 2, .M = 4, .shared = true}, &stream);
  EXPECT_EQ(NumUnconstrained(shared), 3 + 8 + 2 * (4 + 10) + 2);
}

TEST(Packing, NoiseNeverFallsBelowTheFloor) {
  RandomStream stream(4);
  DeepGp model = RandomModel({.hidden = {2}}, &stream);
  const Packing packing{1e-3};
  Vector packed = Pack(model, packing);
  for (const double far : {-1e3, -50.0, 0.0}) {
    packed.setConstant(far);
    Unpack(packed, packing, &model);
    EXPECT_GE(model.likelihood_parameters.minCoeff(), 1e-3);
    EXPECT_GE(model.layers[0].noise_variance.minCoeff(), 1e-3);
    EXPECT_GT(model.layers[0].gps[0].theta.minCoeff(), 0);
  }
  // A model that starts below the floor starts just above it, not at minus infinity.
  model.likelihood_parameters.setConstant(1e-9);
  packed = Pack(model, packing);
  EXPECT_TRUE(packed.allFinite());
  Unpack(packed, packing, &model);
  EXPECT_NEAR(model.likelihood_parameters[0], 1.001e-3, 1e-12);
}

TEST(Packing, WildNumbersDoNotOverflow) {
  RandomStream stream(5);
  DeepGp model = RandomModel({}, &stream);
  const Vector wild = Vector::Constant(NumUnconstrained(model), 1e6);
  Unpack(wild, {}, &model);
  EXPECT_TRUE(model.layers[0].gps[0].theta.allFinite());
  EXPECT_TRUE(model.likelihood_parameters.allFinite());
}

TEST(Packing, WrongSizeIsOurBug) {
  RandomStream stream(6);
  DeepGp model = RandomModel({}, &stream);
  EXPECT_THROW(Unpack(Vector::Zero(NumUnconstrained(model) + 1), {}, &model), InternalError);
}

}  // namespace
}  // namespace fathom
