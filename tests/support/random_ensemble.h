// Whole models with random parameters: one network, or an ensemble as the default fits it.
#ifndef FATHOM_TESTS_SUPPORT_RANDOM_ENSEMBLE_H_
#define FATHOM_TESTS_SUPPORT_RANDOM_ENSEMBLE_H_

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fathom/fitted/beyond.h"
#include "fathom/fitted/calibration.h"
#include "fathom/fitted/linear_expert.h"
#include "fathom/fitted/neighbour_expert.h"
#include "fathom/fitted/predictor.h"
#include "fathom/fitted/seen_rows.h"
#include "fathom/fitted/trees_expert.h"
#include "tests/support/random_model.h"

namespace fathom {

struct NetworkCase {
  const char* name;
  const char* kernel;
  RandomModelOptions options;
  Index columns = 0;  // of the table, turned into fewer inputs; 0: the inputs are the columns
};

inline Model RandomWholeModel(const NetworkCase& kind, RandomStream* stream) {
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

// Rows as a model may meet them: certain ones, some with variances and some with missing cells.
inline Moments RowsWithGaps(Index columns) {
  RandomStream stream(11);
  Moments x = Moments::Certain(10 * stream.NormalMatrix(12, columns));
  AddInputVariance(&stream, &x);
  for (Index n = 1; n < 12; n += 4)
    x.mean(n, n % columns) = x.var(n, n % columns) = std::numeric_limits<double>::quiet_NaN();
  return x;
}

struct NeighbourCase {
  Index targets = 1;
  Index rows = 40;
  bool uncertain = false;  // rows and weights
  bool networks = false;
  bool local_noise = false;
  bool trees = false;
  bool edges = false;  // a warped input, rows that were seen, and rows beyond them
};

inline std::shared_ptr<const Expert> RandomNeighbours(const NeighbourCase& kind, Index inputs,
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

inline std::shared_ptr<const Expert> RandomLine(Index inputs, Index targets, RandomStream* stream) {
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

inline std::shared_ptr<const Expert> RandomTrees(Index inputs, Index targets,
                                                 RandomStream* stream) {
  std::vector<BoostedTrees> trees;
  for (Index t = 0; t < targets; ++t) {
    const TreeFit fit{.rounds = 5, .depth = 3, .seed = static_cast<std::uint64_t>(t)};
    Moments x = Moments::Certain(stream->NormalMatrix(60, inputs));
    for (Index n = 0; n < x.rows(); n += 5) {
      x.mean(n, n % inputs) = 0;  // missing
      x.var(n, n % inputs) = 1;
    }
    trees.push_back(FitBoostedTrees(x, RandomVector(60, stream), {}, fit));
  }
  return std::make_shared<TreesExpert>(std::move(trees), RandomPositive(targets, 0.3, stream),
                                       inputs);
}

// What the default fits: a line, neighbours on it and on networks, and a calibration of the whole.
inline Model RandomEnsemble(const NeighbourCase& kind) {
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
  const double left = (kind.networks ? 0.3 : 1) - (kind.trees ? 0.2 : 0);
  add(RandomNeighbours(kind, scaled, &stream), left, {parts.members.size() - 1});
  if (kind.trees) add(RandomTrees(scaled, kind.targets, &stream), 0.2, {});
  auto calibration = std::make_shared<Calibration>();
  calibration->scales = (Vector(3) << 0.3, 1, 4).finished();
  calibration->shares = (Vector(3) << 0.25, 0.5, 0.25).finished();
  calibration->floor = RandomPositive(kind.targets, 2, &stream);
  calibration->input_scaler = inputs;
  calibration->target_scaler = targets;
  if (kind.local_noise) calibration->local_noise = RandomNeighbours(kind, scaled, &stream);
  if (kind.edges) {
    const Moments rows = StandardizeInputs(inputs, RowsWithGaps(kInputs));
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

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_RANDOM_ENSEMBLE_H_
