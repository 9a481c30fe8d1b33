// What exported C headers predict, against the engine.
#include <gtest/gtest.h>

#include "fathom/fitted/logistic_expert.h"
#include "tests/support/changed_model.h"
#include "tests/support/compiled_header.h"
#include "tests/support/random_ensemble.h"

namespace fathom {
namespace {

class CHeader : public testing::TestWithParam<NetworkCase> {};

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

// Networks with another likelihood than the Gaussian.
Model WithLikelihood(const std::string& name, Index targets, Index num_classes) {
  RandomStream stream(13);
  const auto likelihood = MakeLikelihood(name);
  const Index functions = likelihood->NumOutputs(targets, num_classes);
  const auto member_of = [&](const char* kernel, const RandomModelOptions& options) {
    Member member = RandomWholeModel({"", kernel, options}, &stream).leader();
    ChangeNetwork(&member, [&](DeepGp* network) {
      network->likelihood = likelihood;
      network->likelihood_parameters =
          RandomPositive(likelihood->NumParameters(functions), 0.7, &stream);
    });
    Scaler& scaler = member.target_scaler;
    scaler = likelihood->TakesScaledTargets()
                 ? Scaler{RandomVector(targets, &stream), RandomPositive(targets, 10, &stream),
                          Vector::Ones(targets)}
                 : Scaler{Vector::Zero(targets), Vector::Ones(targets), Vector::Ones(targets)};
    return member;
  };
  ModelParts parts;
  std::vector<std::string> names;
  for (Index t = 0; t < targets; ++t) names.push_back("y" + std::to_string(t));
  parts.schema = NumericSchema({"a", "b"}, names);
  for (Index c = 0; c < num_classes; ++c) parts.schema.classes.push_back("k" + std::to_string(c));
  parts.members = {
      member_of(
          "se_ard",
          {.inputs = 2, .hidden = {2}, .outputs = functions, .propagation = Propagation::kPoints}),
      member_of("se_ard+linear_ard", {.inputs = 2, .outputs = functions})};
  parts.members[0].weight = 0.3;
  parts.members[1].weight = 0.7;
  if (num_classes > 0) {
    parts.members[1].weight = 0.4;
    parts.members.push_back(parts.members[1]);
    parts.members[2].weight = 0.3;
    parts.members[2].expert = std::make_shared<LogisticExpert>(
        Logistic{0.3 * stream.NormalMatrix(2, num_classes), RandomVector(num_classes, &stream)},
        name);
  }
  return Model(std::move(parts));
}

TEST(CHeaderLikelihoods, OfNumbers) {
  ExpectSamePredictions(WithLikelihood("student_t", 2, 0));
  ExpectSamePredictions(WithLikelihood("heteroscedastic", 2, 0));
  ExpectSamePredictions(WithLikelihood("poisson", 2, 0));
}

TEST(CHeaderLikelihoods, OfClasses) {
  ExpectSamePredictions(WithLikelihood("probit", 1, 2));
  ExpectSamePredictions(WithLikelihood("robust_max", 1, 3));
  ExpectSamePredictions(WithLikelihood("robust_max", 1, 6));
  ExpectSamePredictions(WithLikelihood("softmax", 1, 3));
}

TEST(CHeaderEnsemble, PredictsWhatTheEnginePredicts) {
  ExpectSamePredictions(RandomEnsemble({.networks = true, .local_noise = true}));
}

TEST(CHeaderEnsemble, OfSeveralTargetsFromUncertainRows) {
  ExpectSamePredictions(
      RandomEnsemble({.targets = 4, .uncertain = true, .networks = true, .local_noise = true}));
}

TEST(CHeaderEnsemble, OfWarpedInputsSeenRowsAndRowsBeyond) {
  ExpectSamePredictions(RandomEnsemble({.edges = true}));
  ExpectSamePredictions(RandomEnsemble(
      {.targets = 2, .uncertain = true, .networks = true, .local_noise = true, .edges = true}));
}

TEST(CHeaderEnsemble, OfTreesBesideOthers) {
  ExpectSamePredictions(RandomEnsemble({.trees = true}));
  ExpectSamePredictions(
      RandomEnsemble({.targets = 2, .networks = true, .trees = true, .edges = true}));
}

TEST(CHeaderEnsemble, OfNeighboursAlone) {
  ExpectSamePredictions(RandomEnsemble({}));
  ExpectSamePredictions(RandomEnsemble({.rows = 7}));  // fewer than it would look at
}

// Rows that several members hold are one table.
TEST(CHeaderEnsemble, WritesSharedRowsOnce) {
  Model model = RandomEnsemble({});
  const std::size_t once = ExportCHeader(model, "it").size();
  model = Changed(model, [](ModelParts* parts) {
    parts->members[1].weight = 0.5;
    const auto& first = dynamic_cast<const NeighbourExpert&>(*parts->members[1].expert);
    NeighbourRows rows = first.rows();
    rows.x.mean.rightCols(1).array() += 1;
    Member other = parts->members[1];
    other.expert = std::make_shared<NeighbourExpert>(first.gps(), rows, first.neighbours());
    parts->members.push_back(other);
  });
  const std::string twice = ExportCHeader(model, "it");
  EXPECT_EQ(twice.find("it_x2["), std::string::npos);
  EXPECT_LT(twice.size() - once, 40 * (1 + 1) * 25 + 1500);  // targets and trends
  ExpectSamePredictions(model);
}

// The same ensemble, of a z from which the target follows. Members of its own predict the
// probability of a value apart, unless the shape has two values, or of the upper hump.
Model WithShape(const NeighbourCase& kind, const TargetShape& shape) {
  return Changed(RandomEnsemble(kind), [&](ModelParts* parts) {
    auto calibration = std::make_shared<Calibration>(*parts->calibration);
    calibration->shape = shape;
    if (shape.has_share()) calibration->share_logit = (Vector(2) << 0.3, 1.2).finished();
    if (shape.gap > 0 || (shape.has_value && shape.least != shape.most)) {
      ModelParts share;
      share.schema = parts->schema;
      share.members = RandomEnsemble({.rows = 30, .networks = true}).members();
      for (Member& member : share.members) {
        member.target_scaler.mean.setConstant(0.5);
        member.target_scaler.scale.setConstant(0.2);
      }
      calibration->share = std::make_shared<const Model>(std::move(share));
    }
    parts->calibration = std::move(calibration);
  });
}

TEST(CHeaderShapes, OfScalesThatBend) {
  const NeighbourCase kind = {.networks = true, .local_noise = true};
  ExpectSamePredictions(
      WithShape(kind, {.warp = {.kind = Warp::Kind::kLog, .shift = 0.5, .low = 0.1, .high = 50}}));
  ExpectSamePredictions(
      WithShape(kind, {.warp = {.kind = Warp::Kind::kLogit, .shift = 0.02, .low = 0, .high = 1}}));
}

TEST(CHeaderShapes, OfSteps) {
  ExpectSamePredictions(WithShape({}, {.step = 0.5, .least = -3}));
  // So many of them that the moments come from an integral, and an end to them.
  const Warp log = {.kind = Warp::Kind::kLog, .shift = 1, .low = 0, .high = 5000};
  ExpectSamePredictions(
      WithShape({.local_noise = true}, {.warp = log, .step = 1, .least = 0, .most = 4000}));
}

TEST(CHeaderShapes, OfAValueApart) {
  const TargetShape between = {.has_value = true, .value = 1.5, .value_width = 0.01};
  ExpectSamePredictions(WithShape({.networks = true}, between));
  TargetShape amount = {.has_value = true, .value = 0, .value_width = 0.01};
  amount.warp = {.kind = Warp::Kind::kLog, .shift = 0, .low = 0.01, .high = 100};
  ExpectSamePredictions(WithShape({.local_noise = true, .edges = true}, amount));
  const TargetShape counts = {
      .step = 1, .least = 1, .has_value = true, .value = 0, .value_width = 1};
  ExpectSamePredictions(WithShape({}, counts));
}

TEST(CHeaderShapes, OfTwoHumps) {
  ExpectSamePredictions(WithShape({.networks = true, .local_noise = true}, {.gap = 1.5}));
  const Warp log = {.kind = Warp::Kind::kLog, .shift = 0.5, .low = 0.1, .high = 50};
  ExpectSamePredictions(WithShape({.edges = true}, {.warp = log, .gap = 0.7}));
}

TEST(CHeaderShapes, OfTwoValues) {
  const TargetShape two = {
      .step = 3, .least = -1, .most = -1, .has_value = true, .value = 2, .value_width = 3};
  ExpectSamePredictions(WithShape({.networks = true}, two));
}

const NetworkCase kCases[] = {
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

TEST(CHeaderStack, MayMixKernels) {
  RandomStream stream(3);
  Model model = RandomWholeModel({"", "se_ard", {.inputs = 1, .hidden = {1}}}, &stream);
  model = WithNetwork(model, [](DeepGp* network) {
    SparseGp& last = network->layers[1].gps[0];
    last.kernel = MakeKernel("linear_ard");
    last.theta = Vector::Ones(last.kernel->NumParameters(1));
  });
  ExpectSamePredictions(model);
}

TEST(CHeaderNames, AreIdentifiers) {
  EXPECT_EQ(CIdentifier("my model-2"), "my_model_2");
  EXPECT_EQ(CIdentifier("2nd"), "model_2nd");
  EXPECT_EQ(CIdentifier(""), "model_");
}

// Names come from the table, and its author may not mean well.
TEST(CHeaderNames, LeaveNoCommentAndTurnNoDirection) {
  RandomStream stream(3);
  const Model model =
      Changed(RandomWholeModel({"", "se_ard", {.inputs = 1}}, &stream), [](ModelParts* parts) {
        parts->schema.inputs[0].name = "a*/int evil;/*\u202eb\n";
        parts->schema.targets[0] = "y\u2066 */";
      });
  const std::string header = ExportCHeader(model, "it");
  for (const char* never : {"*/int", "\u202e", "\u2066", "y?  */"})
    EXPECT_EQ(header.find(never), std::string::npos) << never;
  ExpectSamePredictions(model);
}

TEST(CHeaderRefusals, NameTheReason) {
  RandomStream stream(3);
  Model model = RandomWholeModel({"", "se_ard", {.inputs = 1}}, &stream);
  EXPECT_NE(ErrorOf([&] { ExportCHeader(model, "not a name"); }).find("'not a name'"),
            std::string::npos);
  model = RandomWholeModel({"", "matern32", {.inputs = 1}}, &stream);
  EXPECT_NE(ErrorOf([&] { ExportCHeader(model, "m"); }).find("'matern32'"), std::string::npos);
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
