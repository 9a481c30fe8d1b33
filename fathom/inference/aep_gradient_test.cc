#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "fathom/inference/aep_energy.h"
#include "tests/support/energy_gradient.h"
#include "tests/support/random_model.h"

namespace fathom {
namespace {

// The name of each number of the packed vector.
std::vector<std::string> PackedNames(DeepGp model) {
  std::vector<std::string> names;
  for (const ParameterArray& array : Parameters(&model)) {
    const bool triangle = array.kind == ParameterKind::kLowerTriangle;
    const Index side = triangle ? array.shape[0] : 0;
    const Index size = triangle ? side * (side + 1) / 2 : array.size;
    for (Index i = 0; i < size; ++i) names.push_back(array.name + "[" + std::to_string(i) + "]");
  }
  return names;
}

struct EnergyCase {
  std::string name;
  RandomModelOptions model;
  bool uncertain = false;
};

const std::vector<EnergyCase> kCases = {
    {"OneLayer", {}},
    {"OneLayerUncertain", {}, true},
    {"OnePseudoPoint", {.inputs = 1, .hidden = {1}, .M = 1}},
    {"Hidden2", {.hidden = {2}}},
    {"Hidden2Uncertain", {.hidden = {2}}, true},
    {"Hidden2And3", {.hidden = {2, 3}, .M = 3}},
    {"TwoOutputs", {.hidden = {2}, .outputs = 2, .M = 3}},
    {"Skip", {.hidden = {2, 1}, .M = 3, .skip = true}},
    {"SkipUncertain", {.hidden = {2}, .M = 3, .skip = true}, true},
    {"LinearMean", {.hidden = {2, 2}, .M = 3, .linear_mean = true}},
    {"LinearMeanSkipUncertain",
     {.hidden = {2, 1}, .M = 3, .skip = true, .linear_mean = true},
     true},
    {"Shared", {.hidden = {3}, .outputs = 2, .M = 3, .shared = true}},
    {"Samples", {.hidden = {2, 3}, .M = 3, .propagation = Propagation::kSamples}},
    {"SamplesSkipUncertain",
     {.hidden = {2, 1},
      .outputs = 2,
      .M = 3,
      .skip = true,
      .linear_mean = true,
      .propagation = Propagation::kSamples},
     true},
    {"Points", {.hidden = {2, 1}, .M = 3, .propagation = Propagation::kPoints}},
};

using EnergyParameters = std::tuple<EnergyCase, bool, double>;

std::string NameOf(const testing::TestParamInfo<EnergyParameters>& test) {
  const auto& [c, sites, alpha] = test.param;
  return c.name + (sites ? "Sites" : "Whitened") + "Alpha" +
         std::to_string(static_cast<int>(10 * alpha));
}

class EnergyOf : public testing::TestWithParam<EnergyParameters> {};
INSTANTIATE_TEST_SUITE_P(Models, EnergyOf,
                         testing::Combine(testing::ValuesIn(kCases), testing::Bool(),
                                          testing::Values(0.0, 0.5, 1.0)),
                         NameOf);

TEST_P(EnergyOf, GradientOfEveryParameter) {
  auto [c, sites, alpha] = GetParam();
  c.model.sites = sites;
  RandomStream stream(1);
  const DeepGp model = RandomModel(c.model, &stream);
  const LabelledRows table = RandomRows(9, c.model.inputs, c.model.outputs, c.uncertain, &stream);
  const ThreadPool pool(1);
  const AepEnergy energy(model, table.x, table.y, {.alpha = alpha, .noise_floor = 0.01}, pool);
  const std::vector<Index> batch = {0, 2, 3, 4, 7, 8};  // a part of the table
  const Vector point = Pack(model, energy.packing());
  const std::vector<std::string> names = PackedNames(model);
  ASSERT_EQ(static_cast<Index>(names.size()), point.size());
  ExpectEnergyGradientMatches(energy, point, batch, 1e-7, [&](Index i) { return names[i]; });
}

}  // namespace
}  // namespace fathom
