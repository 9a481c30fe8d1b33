#include "fathom/model/deep_gp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>

#include "fathom/base/error.h"
#include "tests/support/random_model.h"

namespace fathom {
namespace {

DeepGp TwoLayers(bool sites = false) {
  RandomStream stream(1);
  return RandomModel({.inputs = 3, .hidden = {2}, .sites = sites, .linear_mean = true}, &stream);
}

// The message of the Error that CheckModel throws, "" if none.
std::string Complaint(const DeepGp& model) {
  try {
    CheckModel(model);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

struct Damage {
  std::string name;
  std::function<void(DeepGp*)> act;
  std::string expected;  // part of the message
};

const double kNan = std::numeric_limits<double>::quiet_NaN();

const std::vector<Damage> kDamages = {
    {"NoLayers", [](DeepGp* m) { m->layers.clear(); }, "no layers"},
    {"NoLikelihood", [](DeepGp* m) { m->likelihood.reset(); }, "no likelihood"},
    {"NoFunctions", [](DeepGp* m) { m->layers[1].gps.clear(); }, "layer 1 has no functions"},
    {"NoFunctionsAtTheBottom", [](DeepGp* m) { m->layers[0].gps.clear(); },
     "layer 0 has no functions"},
    {"NoKernel", [](DeepGp* m) { m->layers[1].gps[0].kernel.reset(); }, "kernel"},
    {"SkipInTheFirstLayer", [](DeepGp* m) { m->layers[0].skip = true; }, "skip"},
    {"SkipWithoutItsInputs", [](DeepGp* m) { m->layers[1].skip = true; }, "dimension 2 where 5"},
    {"NoPseudoInputs", [](DeepGp* m) { m->layers[1].gps[0].Z.resize(0, 2); }, "pseudo-inputs"},
    {"WrongDimension", [](DeepGp* m) { m->layers[1].gps[0].Z.setZero(4, 3); },
     "dimension 3 where 2"},
    {"FunctionsOfDifferentDimension", [](DeepGp* m) { m->layers[0].gps[1].Z.setZero(4, 2); },
     "layer 0"},
    {"TooFewKernelParameters", [](DeepGp* m) { m->layers[0].gps[1].theta.conservativeResize(3); },
     "3 kernel parameters where 4"},
    {"PosteriorOfWrongSize",
     [](DeepGp* m) { std::get<Whitened>(m->layers[0].gps[0].posterior).mu.setZero(5); },
     "posterior"},
    {"FactorOfWrongShape",
     [](DeepGp* m) { std::get<Whitened>(m->layers[0].gps[0].posterior).Delta.setZero(4, 3); },
     "posterior"},
    {"HiddenNoiseMissing", [](DeepGp* m) { m->layers[0].noise_variance.resize(0); }, "noise"},
    {"NoiseInTheLastLayer", [](DeepGp* m) { m->layers[1].noise_variance.setOnes(1); }, "noise"},
    {"MeanOfWrongShape", [](DeepGp* m) { m->layers[0].mean_weights.setZero(2, 3); },
     "linear mean of the wrong shape"},
    {"MeanNotFinite", [](DeepGp* m) { m->layers[0].mean_weights(0, 0) = kNan; }, "not finite"},
    {"LikelihoodParameters", [](DeepGp* m) { m->likelihood_parameters.setOnes(2); },
     "likelihood has 2 parameters where 1"},
    {"NegativeJitter", [](DeepGp* m) { m->jitter = -1e-6; }, "jitter"},
    {"JitterNotANumber", [](DeepGp* m) { m->jitter = kNan; }, "jitter"},
    {"NotANumber", [](DeepGp* m) { m->layers[1].gps[0].Z(1, 1) = kNan; }, "layers.1.gps.0.Z"},
    {"Infinite",
     [](DeepGp* m) { m->layers[1].gps[0].Z(1, 1) = std::numeric_limits<double>::infinity(); },
     "layers.1.gps.0.Z"},
    {"LengthscaleNotPositive", [](DeepGp* m) { m->layers[0].gps[1].theta[2] = 0; },
     "layers.0.gps.1.theta"},
    {"NoiseNotPositive", [](DeepGp* m) { m->layers[0].noise_variance[1] = -1; },
     "layers.0.noise_variance"},
    {"LikelihoodNoiseNotPositive", [](DeepGp* m) { m->likelihood_parameters[0] = 0; },
     "likelihood.parameters"},
    {"NotLowerTriangular",
     [](DeepGp* m) { std::get<Whitened>(m->layers[0].gps[1].posterior).Delta(0, 1) = 1; },
     "lower triangular"},
    {"DiagonalNotPositive",
     [](DeepGp* m) { std::get<Whitened>(m->layers[0].gps[1].posterior).Delta(2, 2) = -0.5; },
     "layer 0 has a posterior factor"},
    {"PathsWithoutSampling", [](DeepGp* m) { m->samples = 4; }, "4 paths per row"},
    {"SamplingWithoutPaths", [](DeepGp* m) { m->propagation = Propagation::kSamples; },
     "0 paths per row"},
    {"PointsOfAnotherWidth",
     [](DeepGp* m) {
       m->propagation = Propagation::kPoints;
       m->points = Matrix::Zero(3, m->num_hidden_units() + 1);
       m->point_weights = Vector::Ones(3);
     },
     "points have the wrong shape"},
    {"WeightsMissing",
     [](DeepGp* m) {
       m->propagation = Propagation::kPoints;
       m->points = Matrix::Zero(3, m->num_hidden_units());
     },
     "3 points and 0 weights"},
    {"WeightsWithoutASum",
     [](DeepGp* m) {
       m->propagation = Propagation::kPoints;
       m->points = Matrix::Zero(3, m->num_hidden_units());
       m->point_weights = Vector::Constant(3, 1e308);
     },
     "no finite sum"},
};

class CheckModelRefuses : public testing::TestWithParam<Damage> {};
INSTANTIATE_TEST_SUITE_P(Damages, CheckModelRefuses, testing::ValuesIn(kDamages),
                         [](const auto& test) { return test.param.name; });

TEST_P(CheckModelRefuses, AWrongModel) {
  DeepGp model = TwoLayers();
  ASSERT_EQ(Complaint(model), "");
  GetParam().act(&model);
  const std::string complaint = Complaint(model);
  EXPECT_NE(complaint.find(GetParam().expected), std::string::npos) << "'" << complaint << "'";
}

TEST(CheckModel, AcceptsEveryKindOfModel) {
  RandomStream stream(2);
  for (const bool sites : {false, true}) {
    EXPECT_EQ(Complaint(RandomModel({.sites = sites}, &stream)), "");
    EXPECT_EQ(Complaint(RandomModel({.hidden = {2, 3}, .sites = sites, .skip = true}, &stream)),
              "");
    EXPECT_EQ(
        Complaint(RandomModel({.hidden = {2}, .propagation = Propagation::kSamples}, &stream)), "");
    EXPECT_EQ(Complaint(RandomModel({.hidden = {2}, .propagation = Propagation::kPoints}, &stream)),
              "");
    EXPECT_EQ(Complaint(RandomModel({.hidden = {2}, .outputs = 3, .sites = sites, .shared = true},
                                    &stream)),
              "");
  }
  // A site factor of zero is the prior, a sound model.
  DeepGp prior = RandomModel({.sites = true}, &stream);
  prior.layers[0].gps[0].posterior = Sites::Prior(4);
  EXPECT_EQ(Complaint(prior), "");
}

TEST(DeepGp, ParametersAreNamedOnceAndCoverEverything) {
  RandomStream stream(3);
  DeepGp model = RandomModel({.hidden = {2}, .outputs = 2, .shared = true}, &stream);
  std::set<std::string> names;
  for (const ParameterArray& array : Parameters(&model)) {
    EXPECT_TRUE(names.insert(array.name).second) << array.name;
    Index size = 1;
    for (const Index side : array.shape) size *= side;
    EXPECT_EQ(size, array.size);
  }
  EXPECT_TRUE(names.count("layers.0.gps.0.Z"));
  EXPECT_FALSE(names.count("layers.0.gps.1.Z"));  // shared
  EXPECT_TRUE(names.count("layers.0.gps.1.whitened.Delta"));
  EXPECT_TRUE(names.count("layers.0.noise_variance"));
  EXPECT_FALSE(names.count("layers.1.noise_variance"));
  EXPECT_TRUE(names.count("likelihood.parameters"));
  model.layers[0].shared = false;
  names.clear();
  for (const ParameterArray& array : Parameters(&model)) names.insert(array.name);
  EXPECT_TRUE(names.count("layers.0.gps.1.Z"));
}

TEST(DeepGp, SharedPartsAreSpreadAndGathered) {
  RandomStream stream(4);
  DeepGp model = RandomModel({.hidden = {3}}, &stream);
  model.layers[0].shared = true;
  DeepGp gradient = model;
  SpreadShared(&model);
  for (const SparseGp& gp : model.layers[0].gps) {
    EXPECT_EQ(gp.Z, model.layers[0].gps[0].Z);
    EXPECT_EQ(gp.theta, model.layers[0].gps[0].theta);
  }
  Matrix sum = Matrix::Zero(4, 2);
  for (const SparseGp& gp : gradient.layers[0].gps) sum += gp.Z;
  GatherShared(&gradient);
  EXPECT_LT((gradient.layers[0].gps[0].Z - sum).cwiseAbs().maxCoeff(), 1e-15);
  EXPECT_EQ(gradient.layers[0].gps[2].Z, Matrix::Zero(4, 2));
}

TEST(DeepGp, ZeroLikeHasTheShapesAndNothingElse) {
  for (const bool sites : {false, true}) {
    DeepGp model = TwoLayers(sites);
    DeepGp zero = model.ZeroLike();
    const std::vector<ParameterArray> expected = Parameters(&model);
    const std::vector<ParameterArray> arrays = Parameters(&zero);
    ASSERT_EQ(arrays.size(), expected.size());
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      EXPECT_EQ(arrays[i].name, expected[i].name);
      EXPECT_EQ(arrays[i].shape, expected[i].shape);
      for (Index k = 0; k < arrays[i].size; ++k) EXPECT_EQ(arrays[i].data[k], 0);
    }
  }
}

TEST(DeepGp, IsAValue) {
  const DeepGp model = TwoLayers();
  DeepGp copy = model;
  copy.layers[0].gps[0].Z(0, 0) += 1;
  EXPECT_NE(copy.layers[0].gps[0].Z, model.layers[0].gps[0].Z);
}

}  // namespace
}  // namespace fathom
