// Compiles exported headers with a C compiler and compares what they predict with the engine.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "fathom/fitted/export.h"
#include "fathom/fitted/predictor.h"
#include "tests/support/changed_model.h"
#include "tests/support/random_model.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

// Reads rows of inputs and their standard deviations, writes mean and std of y and of f. The
// results go to the arrays of the inputs, as they may.
constexpr const char* kMain = R"(
#include <stdio.h>
#include "it.h"
int main(void) {
  enum { SIZE = it_INPUTS > it_OUTPUTS ? (int)it_INPUTS : (int)it_OUTPUTS };
  double x[it_INPUTS], s[it_INPUTS], mean[SIZE], std[SIZE];
  int c, kind;
  for (;;) {
    for (c = 0; c < it_INPUTS; ++c) if (scanf("%lf", &x[c]) != 1) return 0;
    for (c = 0; c < it_INPUTS; ++c) if (scanf("%lf", &s[c]) != 1) return 1;
    for (kind = 0; kind < 2; ++kind) {
      for (c = 0; c < it_INPUTS; ++c) {
        mean[c] = x[c];
        std[c] = s[c];
      }
      (kind ? it_latent : it_predict)(mean, std, mean, std);
      for (c = 0; c < it_OUTPUTS; ++c) printf("%s%.17g,%.17g", c + kind ? "," : "", mean[c], std[c]);
    }
    printf("\n");
  }
}
)";

struct HeaderCase {
  const char* name;
  const char* kernel;
  RandomModelOptions options;
  Index columns = 0;  // of the table, turned into fewer inputs; 0: the inputs are the columns
};

class CHeader : public testing::TestWithParam<HeaderCase> {};

Model RandomWholeModel(const HeaderCase& kind, RandomStream* stream) {
  DeepGp network = RandomModel(kind.options, stream);
  for (GpLayer& layer : network.layers) {
    for (SparseGp& gp : layer.gps) {
      gp.kernel = MakeKernel(kind.kernel);
      gp.theta = RandomPositive(gp.kernel->NumParameters(gp.input_dim()), 0.4, stream);
    }
  }
  SpreadShared(&network);
  const auto scaler = [&](Index size) {
    return Scaler{RandomVector(size, stream), RandomPositive(size, 10, stream), Vector::Ones(size)};
  };
  const Index columns = kind.columns > 0 ? kind.columns : kind.options.inputs;
  Member member;
  member.expert = std::make_shared<DeepGpExpert>(std::move(network));
  member.input_scaler = scaler(columns);
  if (kind.columns > 0)
    member.input_scaler.directions = stream->NormalMatrix(columns, kind.options.inputs);
  member.target_scaler = scaler(kind.options.outputs);
  std::vector<std::string> inputs;
  std::vector<std::string> targets;
  for (Index c = 0; c < columns; ++c) inputs.push_back("x " + std::to_string(c) + " */");
  for (Index d = 0; d < kind.options.outputs; ++d) targets.push_back("y" + std::to_string(d));
  ModelParts parts;
  parts.schema = NumericSchema(inputs, targets);
  parts.members = {member};
  return Model(parts);
}

void WriteRow(const Moments& x, Index n, std::ostream& out) {
  out.precision(17);
  for (Index c = 0; c < x.cols(); ++c) out << x.mean(n, c) << " ";
  for (Index c = 0; c < x.cols(); ++c)
    out << (std::isnan(x.var(n, c)) ? 0 : std::sqrt(x.var(n, c))) << " ";
  out << "\n";
}

// Those of the compiled header and of the engine.
void ExpectSamePredictions(const Model& model) {
  RandomStream stream(11);
  const TestFolder folder;
  folder.Write("it.h", ExportCHeader(model, "it"));
  folder.Write("main.c", kMain);
  const std::string compile =
      "cc -std=c99 -pedantic -Wall -Wextra -Werror -O1 -fsanitize=address,undefined "
      "-fno-sanitize-recover=all -o " +
      folder.Path("it") + " " + folder.Path("main.c") + " -lm";
  ASSERT_EQ(::system(compile.c_str()), 0);

  // Certain rows, rows with variances and rows with missing cells.
  Moments x =
      Moments::Certain(10 * stream.NormalMatrix(12, model.leader().input_scaler.mean.size()));
  AddInputVariance(&stream, &x);
  for (Index n = 1; n < 12; n += 4)
    x.mean(n, n % x.cols()) = x.var(n, n % x.cols()) = std::numeric_limits<double>::quiet_NaN();
  std::ostringstream rows;
  for (Index n = 0; n < x.rows(); ++n) WriteRow(x, n, rows);
  folder.Write("rows", rows.str());
  const std::string run =
      folder.Path("it") + " < " + folder.Path("rows") + " > " + folder.Path("out");
  ASSERT_EQ(::system(run.c_str()), 0);
  std::istringstream out(TestFolder::Read(folder.Path("out")));
  const ModelPredictor predictor(model, 1);
  const Prediction y = predictor.Predict(x);
  const Prediction f = predictor.Predict(x, {.latent = true});
  for (Index n = 0; n < x.rows(); ++n) {
    for (const Prediction* prediction : {&y, &f}) {
      const Moments expected(prediction->Mean(), prediction->Variance());
      for (Index d = 0; d < expected.cols(); ++d) {
        double mean = NAN;
        double std = NAN;
        char comma = 0;
        out >> mean >> comma >> std;
        const bool last = prediction == &f && d + 1 == expected.cols();
        if (!last) out >> comma;
        const double expected_std = std::sqrt(expected.var(n, d));
        EXPECT_NEAR(mean, expected.mean(n, d),
                    1e-10 * (std::abs(expected.mean(n, d)) + expected_std));
        EXPECT_NEAR(std, expected_std, 1e-9 * expected_std) << n << " " << d;
      }
    }
  }
}

TEST_P(CHeader, PredictsWhatTheEnginePredicts) {
  RandomStream stream(11);
  ExpectSamePredictions(RandomWholeModel(GetParam(), &stream));
}

// Mean and standard deviation of a mixture, whose networks see different directions of the columns.
Model RandomStack() {
  RandomStream stream(12);
  const RandomModelOptions paths = {.inputs = 3,
                                    .hidden = {2, 2},
                                    .outputs = 2,
                                    .skip = true,
                                    .linear_mean = true,
                                    .propagation = Propagation::kPoints};
  const Model first = RandomWholeModel({"", "se_ard", paths}, &stream);
  const RandomModelOptions turned = {.inputs = 2, .hidden = {4}, .outputs = 2, .M = 7};
  const Model second = RandomWholeModel({"", "se_ard", turned, 3}, &stream);
  const Model third = RandomWholeModel({"", "se_ard", {.inputs = 3, .outputs = 2}}, &stream);
  return Changed(first, [&](ModelParts* parts) {
    const auto add = [&](const Model& model, double weight, double noise_scale) {
      parts->members.push_back(model.leader());
      parts->members.back().weight = weight;
      parts->members.back().noise_scale = noise_scale;
    };
    parts->members[0].weight = 0.5;
    add(second, 0.2, 25);
    add(third, 0.2, 1);
    add(third, 0.1, 4);
  });
}

TEST(CHeaderStack, PredictsWhatTheEnginePredicts) { ExpectSamePredictions(RandomStack()); }

const HeaderCase kCases[] = {
    {"OneLayer", "se_ard", {.inputs = 3}},
    {"TwoLayers", "se_ard", {.inputs = 2, .hidden = {3}, .outputs = 2, .M = 6}},
    {"ThreeLayersWithEverything",
     "se_ard",
     {.inputs = 2, .hidden = {2, 3}, .M = 5, .skip = true, .shared = true, .linear_mean = true}},
    {"WhitenedInputs", "se_ard", {.inputs = 2, .hidden = {2}, .skip = true}, 3},
    {"Sites", "se_ard", {.inputs = 2, .hidden = {2}, .sites = true}},
    {"Points",
     "se_ard",
     {.inputs = 2, .hidden = {2, 3}, .outputs = 2, .propagation = Propagation::kPoints}},
    {"Linear", "linear_ard", {.inputs = 3, .hidden = {2}, .linear_mean = true}},
    {"SeAndLinear",
     "se_ard+linear_ard",
     {.inputs = 2, .hidden = {2}, .skip = true, .linear_mean = true}},
    {"SpectralMixture",
     "spectral_mixture:3",
     {.inputs = 2, .hidden = {2}, .skip = true, .linear_mean = true}}};
INSTANTIATE_TEST_SUITE_P(Models, CHeader, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(CHeaderNames, AreIdentifiers) {
  EXPECT_EQ(CIdentifier("my model-2"), "my_model_2");
  EXPECT_EQ(CIdentifier("2nd"), "model_2nd");
  EXPECT_EQ(CIdentifier(""), "model_");
}

TEST(CHeaderRefusals, NameTheReason) {
  RandomStream stream(3);
  Model model = RandomWholeModel({"", "se_ard", {.inputs = 1}}, &stream);
  EXPECT_NE(ErrorOf([&] { ExportCHeader(model, "not a name"); }).find("'not a name'"),
            std::string::npos);
  model = RandomWholeModel({"", "se_ard", {.inputs = 1, .hidden = {1}}}, &stream);
  model = WithNetwork(model, [](DeepGp* network) {
    SparseGp& last = network->layers[1].gps[0];
    last.kernel = MakeKernel("linear_ard");
    last.theta = Vector::Ones(last.kernel->NumParameters(1));
  });
  EXPECT_NE(ErrorOf([&] { ExportCHeader(model, "m"); }).find("'linear_ard'"), std::string::npos);
  model = RandomWholeModel({"", "matern32", {.inputs = 1}}, &stream);
  EXPECT_NE(ErrorOf([&] { ExportCHeader(model, "m"); }).find("'matern32'"), std::string::npos);
  model = RandomWholeModel({"", "se_ard", {.inputs = 1}}, &stream);
  model = Changed(model, [](ModelParts* parts) {
    parts->schema.classes = {"no", "yes"};
    ChangeNetwork(&parts->members[0], [](DeepGp* network) {
      network->likelihood = MakeLikelihood("probit");
      network->likelihood_parameters = network->likelihood->InitialParameters(1, 1);
    });
  });
  EXPECT_NE(ErrorOf([&] { ExportCHeader(model, "m"); }).find("'probit'"), std::string::npos);
  model = Changed(RandomStack(), [](ModelParts* parts) {
    ChangeNetwork(&parts->members[1], [](DeepGp* network) {
      network->propagation = Propagation::kSamples;
      network->samples = 3;
    });
  });
  EXPECT_NE(ErrorOf([&] { ExportCHeader(model, "m"); }).find("sampled paths"), std::string::npos);
}

}  // namespace
}  // namespace fathom
