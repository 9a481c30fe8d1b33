// Compiles exported headers with a C compiler and compares what they predict with the engine.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <cmath>
#include <limits>
#include <sstream>

#include "fathom/fitted/beyond.h"
#include "fathom/fitted/calibration.h"
#include "fathom/fitted/export.h"
#include "fathom/fitted/linear_expert.h"
#include "fathom/fitted/logistic_expert.h"
#include "fathom/fitted/neighbour_expert.h"
#include "fathom/fitted/predictor.h"
#include "fathom/fitted/seen_rows.h"
#include "tests/support/changed_model.h"
#include "tests/support/random_model.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

// Reads rows of inputs and their standard deviations, writes mean and std of y and of f, and three
// quantiles. The results go to the arrays of the inputs, as they may.
constexpr const char* kNumbersMain = R"(
#include <stdio.h>
#include "it.h"
int main(void) {
  enum { SIZE = it_INPUTS > it_OUTPUTS ? (int)it_INPUTS : (int)it_OUTPUTS };
  static const double at[3] = {0.001, 0.4, 0.95};
  double x[it_INPUTS], s[it_INPUTS], mean[SIZE], std[SIZE], quantiles[3 * it_OUTPUTS];
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
      for (c = 0; c < it_OUTPUTS; ++c) printf("%.17g %.17g ", mean[c], std[c]);
    }
    it_quantiles(x, s, 3, at, quantiles);
    for (c = 0; c < 3 * it_OUTPUTS; ++c) printf("%.17g ", quantiles[c]);
    printf("\n");
  }
}
)";
// The same with the probabilities of all classes, and the class.
constexpr const char* kClassesMain = R"(
#include <stdio.h>
#include "it.h"
int main(void) {
  double x[it_INPUTS], s[it_INPUTS], p[it_CLASSES];
  int c;
  for (;;) {
    for (c = 0; c < it_INPUTS; ++c) if (scanf("%lf", &x[c]) != 1) return 0;
    for (c = 0; c < it_INPUTS; ++c) if (scanf("%lf", &s[c]) != 1) return 1;
    it_probabilities(x, s, p);
    for (c = 0; c < it_CLASSES; ++c) printf("%.17g ", p[c]);
    printf("%d\n", it_classify(x, s));
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

// Rows as a model may meet them: certain ones, some with variances and some with missing cells.
Moments RandomRows(Index columns) {
  RandomStream stream(11);
  Moments x = Moments::Certain(10 * stream.NormalMatrix(12, columns));
  AddInputVariance(&stream, &x);
  for (Index n = 1; n < 12; n += 4)
    x.mean(n, n % columns) = x.var(n, n % columns) = std::numeric_limits<double>::quiet_NaN();
  return x;
}

// What the compiled header prints for the rows.
std::string OutputOfC(const Model& model, const Moments& x) {
  const TestFolder folder;
  folder.Write("it.h", ExportCHeader(model, "it"));
  folder.Write("main.c", model.schema().has_classes() ? kClassesMain : kNumbersMain);
  const std::string compile =
      "cc -std=c99 -pedantic -Wall -Wextra -Werror -O1 -fsanitize=address,undefined "
      "-fno-sanitize-recover=all -o " +
      folder.Path("it") + " " + folder.Path("main.c") + " -lm";
  EXPECT_EQ(::system(compile.c_str()), 0);
  std::ostringstream rows;
  for (Index n = 0; n < x.rows(); ++n) WriteRow(x, n, rows);
  folder.Write("rows", rows.str());
  const std::string run =
      folder.Path("it") + " < " + folder.Path("rows") + " > " + folder.Path("out");
  EXPECT_EQ(::system(run.c_str()), 0);
  return TestFolder::Read(folder.Path("out"));
}

void ExpectSameNumbers(const Model& model, const Moments& x) {
  std::istringstream out(OutputOfC(model, x));
  const ModelPredictor predictor(model, 1);
  const Prediction y = predictor.Predict(x);
  const Prediction f = predictor.Predict(x, {.latent = true});
  for (Index n = 0; n < x.rows(); ++n) {
    for (const Prediction* prediction : {&y, &f}) {
      const Moments expected(prediction->Mean(), prediction->Variance());
      for (Index d = 0; d < expected.cols(); ++d) {
        double mean = NAN;
        double std = NAN;
        out >> mean >> std;
        const double expected_std = std::sqrt(expected.var(n, d));
        EXPECT_NEAR(mean, expected.mean(n, d),
                    1e-9 * (std::abs(expected.mean(n, d)) + expected_std));
        EXPECT_NEAR(std, expected_std, 1e-9 * expected_std) << n << " " << d;
      }
    }
    const Matrix variance = y.Variance();
    for (const double probability : {0.001, 0.4, 0.95}) {
      for (Index d = 0; d < y.outputs(); ++d) {
        double quantile = NAN;
        out >> quantile;
        EXPECT_NEAR(quantile, y.Quantile(n, d, probability),
                    1e-9 * (std::abs(quantile) + std::sqrt(variance(n, d))))
            << n << " " << d << " " << probability;
      }
    }
  }
}

void ExpectSameClasses(const Model& model, const Moments& x) {
  std::istringstream out(OutputOfC(model, x));
  const Matrix expected = ModelPredictor(model, 1).ClassProbabilities(x);
  for (Index n = 0; n < x.rows(); ++n) {
    for (Index c = 0; c < expected.cols(); ++c) {
      double p = NAN;
      out >> p;
      EXPECT_NEAR(p, expected(n, c), 1e-9) << n << " " << c;
    }
    Index best = 0;
    expected.row(n).maxCoeff(&best);
    Index classified = -1;
    out >> classified;
    EXPECT_EQ(classified, best);
  }
}

void ExpectSamePredictions(const Model& model) {
  const Moments x = RandomRows(model.schema().width());
  model.schema().has_classes() ? ExpectSameClasses(model, x) : ExpectSameNumbers(model, x);
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

struct NeighbourCase {
  Index targets = 1;
  Index rows = 40;
  bool uncertain = false;  // rows and weights
  bool networks = false;
  bool local_noise = false;
  bool edges = false;  // a warped input, rows that were seen, and rows beyond them
};

std::shared_ptr<const Expert> RandomNeighbours(const NeighbourCase& kind, Index inputs,
                                               RandomStream* stream) {
  std::vector<NeighbourGp> gps;
  for (Index t = 0; t < kind.targets; ++t) {
    constexpr std::array kKinds = {Correlation::kMatern12, Correlation::kMatern32,
                                   Correlation::kMatern52, Correlation::kSe};
    gps.push_back({kKinds[static_cast<std::size_t>(t) % kKinds.size()],
                   RandomPositive(inputs + kind.targets, 2, stream), 0.8, 0.05});
  }
  const Index D = inputs + kind.targets;
  NeighbourRows rows{Moments::Certain(stream->NormalMatrix(kind.rows, D)),
                     stream->NormalMatrix(kind.rows, kind.targets),
                     RandomVector(kind.targets, stream),
                     {}};
  if (kind.uncertain) {
    rows.weights = RandomPositive(kind.rows, 1, stream);
    for (Index n = 0; n < kind.rows; n += 3) rows.x.var(n, n % inputs) = 0.4;
  }
  return std::make_shared<NeighbourExpert>(std::move(gps), std::move(rows), 20);
}

std::shared_ptr<const Expert> RandomLine(Index inputs, Index targets, RandomStream* stream) {
  const Index rank = inputs - 1;
  return std::make_shared<LinearExpert>(Ridge{.weights = stream->NormalMatrix(inputs, targets),
                                              .intercept = RandomVector(targets, stream),
                                              .centre = RandomVector(inputs, stream),
                                              .directions = stream->NormalMatrix(inputs, rank),
                                              .eigenvalues = RandomPositive(rank, 30, stream),
                                              .penalty = RandomPositive(targets, 1, stream),
                                              .noise = RandomPositive(targets, 0.3, stream),
                                              .rows = 40});
}

// What the default fits: a line, neighbours on it and on networks, and a calibration of the whole.
Model RandomEnsemble(const NeighbourCase& kind) {
  RandomStream stream(14);
  constexpr Index kInputs = 3;
  const auto scaler = [&](Index size) {
    return Scaler{RandomVector(size, &stream), RandomPositive(size, 10, &stream),
                  Vector::Ones(size)};
  };
  ModelParts parts;
  std::vector<std::string> names;
  for (Index t = 0; t < kind.targets; ++t) names.push_back("y" + std::to_string(t));
  parts.schema = NumericSchema({"a", "b", "c"}, names);
  Scaler inputs = scaler(kInputs);
  if (kind.edges) {
    inputs.warps = {.columns = {1},
                    .knots = Eigen::RowVectorXd::LinSpaced(kWarpKnots, -2, 1),
                    .scores = Eigen::RowVectorXd::LinSpaced(kWarpKnots, -1.2, 1).array().cube()};
  }
  const Index scaled = inputs.outputs();
  const Scaler targets = scaler(kind.targets);
  const auto add = [&](std::shared_ptr<const Expert> expert, double weight,
                       std::vector<std::size_t> trend) {
    Member member;
    member.expert = std::move(expert);
    member.input_scaler = inputs;
    member.target_scaler = targets;
    member.weight = weight;
    member.trend = std::move(trend);
    parts.members.push_back(std::move(member));
  };
  if (kind.networks) {
    for (int fold = 0; fold < 2; ++fold) {
      const RandomModelOptions options = {
          .inputs = kInputs, .hidden = {2}, .outputs = kind.targets, .skip = true};
      parts.members.push_back(RandomWholeModel({"", "se_ard", options}, &stream).leader());
      parts.members.back().weight = 0.2;
    }
    add(RandomNeighbours(kind, scaled, &stream), 0.3, {0, 1});
  }
  add(RandomLine(scaled, kind.targets, &stream), 0, {});
  add(RandomNeighbours(kind, scaled, &stream), kind.networks ? 0.3 : 1, {parts.members.size() - 1});
  auto calibration = std::make_shared<Calibration>();
  calibration->scales = (Vector(3) << 0.3, 1, 4).finished();
  calibration->shares = (Vector(3) << 0.25, 0.5, 0.25).finished();
  calibration->floor = RandomPositive(kind.targets, 2, &stream);
  calibration->input_scaler = inputs;
  calibration->target_scaler = targets;
  if (kind.local_noise) calibration->local_noise = RandomNeighbours(kind, scaled, &stream);
  if (kind.edges) {
    const Moments rows = StandardizeInputs(inputs, RandomRows(kInputs));
    calibration->seen = std::make_shared<SeenRows>(
        SeenRows{rows.mean.middleRows(2, 2), stream.NormalMatrix(2, kind.targets),
                 Matrix::Constant(2, kind.targets, 0.3)});
    calibration->beyond =
        std::make_shared<Beyond>(Beyond{.course = kind.local_noise ? Course::kLine : Course::kSlope,
                                        .slope = stream.NormalMatrix(scaled, kind.targets),
                                        .intercept = RandomVector(kind.targets, &stream),
                                        .lengthscales = RandomPositive(scaled, 1, &stream),
                                        .growth = RandomPositive(kind.targets, 0.5, &stream),
                                        .power = 0.5});
    parts.data.range = {Vector::Constant(kInputs, -6), Vector::Constant(kInputs, 9)};
  }
  parts.calibration = std::move(calibration);
  return Model(std::move(parts));
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
// probability of a value apart, unless the shape has two values.
Model WithShape(const NeighbourCase& kind, const TargetShape& shape) {
  return Changed(RandomEnsemble(kind), [&](ModelParts* parts) {
    auto calibration = std::make_shared<Calibration>(*parts->calibration);
    calibration->shape = shape;
    if (shape.has_value) calibration->share_logit = (Vector(2) << 0.3, 1.2).finished();
    if (shape.has_value && shape.least != shape.most) {
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

TEST(CHeaderShapes, OfTwoValues) {
  const TargetShape two = {
      .step = 3, .least = -1, .most = -1, .has_value = true, .value = 2, .value_width = 3};
  ExpectSamePredictions(WithShape({.networks = true}, two));
}

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
