#include "fathom/fitted/relevance.h"

#include <algorithm>
#include <utility>

#include "fathom/base/linalg.h"
#include "fathom/fitted/by_expert.h"
#include "fathom/fitted/calibration.h"
#include "fathom/fitted/deep_gp_expert.h"
#include "fathom/fitted/describe.h"
#include "fathom/fitted/linear_expert.h"
#include "fathom/fitted/logistic_expert.h"
#include "fathom/fitted/neighbour_expert.h"
#include "fathom/fitted/predictor.h"
#include "fathom/fitted/trees_expert.h"
#include "fathom/inference/predict.h"

namespace fathom {

namespace {

// [functions, inputs]: expected squared slopes, those of the linear mean included.
Matrix SquaredSlopes(const GpLayer& layer) {
  Matrix slopes(layer.outputs(), layer.inputs());
  for (Index d = 0; d < layer.outputs(); ++d) {
    const SparseGp& gp = layer.gps[d];
    slopes.row(d) = gp.kernel->SlopeVariance(gp.theta, gp.input_dim()).transpose();
  }
  if (layer.mean_weights.size() > 0) slopes += layer.mean_weights.cwiseAbs2().transpose();
  return slopes;
}

// [outputs, model inputs]: what the kernels expect of the squared slopes, multiplied along the
// layers and summed over all paths.
Matrix ExpectedSquaredSlopes(const DeepGp& network) {
  Matrix squared = Matrix::Zero(network.outputs(), network.input_dim());
  Matrix above = Matrix::Identity(network.outputs(), network.outputs());
  for (Index l = network.num_layers() - 1; l >= 0; --l) {
    const Matrix slopes = Product({above}, {SquaredSlopes(network.layers[l])});
    const Index below = l == 0 ? 0 : network.layers[l - 1].outputs();
    if (l == 0 || network.layers[l].skip) squared += slopes.rightCols(slopes.cols() - below);
    above = slopes.leftCols(below);
  }
  return squared;
}

// Adds what depends on the curve of a column to what depends on the column, and leaves the columns.
void AddWarped(const Scaler& scaler, Matrix* slopes) {
  if (scaler.warps.size() == 0) return;
  const Index columns = scaler.mean.size();
  for (Index w = 0; w < scaler.warps.size(); ++w)
    slopes->col(scaler.warps.columns[static_cast<std::size_t>(w)]) += slopes->col(columns + w);
  slopes->conservativeResize(Eigen::NoChange, columns);
}

// From the inputs of the network to the columns, of squared slopes or of what behaves as they do.
void TurnBack(const Scaler& scaler, Matrix* squared) {
  if (scaler.directions.size() > 0)
    *squared = Product({*squared}, Transposed(scaler.directions.cwiseAbs2()));
  AddWarped(scaler, squared);
}

// [outputs, columns]: mean squared slopes of the prediction, by differences at the pseudo-inputs.
Matrix MeasuredSquaredSlopes(const Member& member) {
  constexpr double kStep = 0.05;
  const ThreadPool pool(1);
  const DeepGp& network = NetworkOf(member);
  const NetworkPredictor predictor(network, pool);
  const Matrix& Z = network.layers[0].gps[0].Z;
  const Index outputs = network.outputs();
  // Both sides are rows of the same numbers, so that samples are drawn alike.
  const auto predict = [&](Index r, double step) {
    Matrix x = Z;
    x.col(r).array() += step;
    return predictor.Predict(Moments::Certain(x), {.latent = true}).Mean();
  };
  // Output d of point p is row d * points + p.
  Matrix slopes(Z.rows() * outputs, Z.cols());
  for (Index r = 0; r < Z.cols(); ++r) {
    const Matrix slope = (predict(r, kStep) - predict(r, -kStep)) / (2 * kStep);
    for (Index d = 0; d < outputs; ++d)
      slopes.col(r).segment(d * Z.rows(), Z.rows()) = slope.col(d);
  }
  const Matrix& directions = member.input_scaler.directions;
  if (directions.size() > 0) slopes = Product({slopes}, Transposed(directions));
  AddWarped(member.input_scaler, &slopes);
  Matrix squared(outputs, slopes.cols());
  for (Index d = 0; d < outputs; ++d)
    squared.row(d) = slopes.middleRows(d * Z.rows(), Z.rows()).cwiseAbs2().colwise().mean();
  return squared;
}

// [outputs, inputs]: trees have no slopes, but steps: squares of those between the sides of their
// divisions.
Matrix SquaredJumps(const TreesExpert& expert) {
  Matrix squared = Matrix::Zero(expert.num_outputs(), expert.num_inputs());
  for (Index t = 0; t < squared.rows(); ++t) {
    const std::vector<TreeNode>& nodes = expert.trees()[static_cast<std::size_t>(t)].nodes;
    std::vector<double> mean(nodes.size());
    for (std::size_t n = nodes.size(); n-- > 0;) {
      mean[n] = nodes[n].value;
      if (nodes[n].column < 0) continue;
      const double left = mean[n + 1];
      const double right = mean[static_cast<std::size_t>(nodes[n].right)];
      mean[n] = (left + right) / 2;
      squared(t, nodes[n].column) += (right - left) * (right - left);
    }
  }
  return squared;
}

// [outputs, columns] of one network.
Matrix SquaredSlopes(const Member& member) {
  constexpr Index kMostMeasured = 1000;
  if (const auto* line = dynamic_cast<const LinearExpert*>(member.expert.get())) {
    Matrix squared = line->ridge().weights.transpose().cwiseAbs2();
    TurnBack(member.input_scaler, &squared);
    return squared;
  }
  if (const auto* line = dynamic_cast<const LogisticExpert*>(member.expert.get())) {
    Matrix squared = line->Slopes().transpose().cwiseAbs2();
    TurnBack(member.input_scaler, &squared);
    return squared;
  }
  if (const auto* trees = dynamic_cast<const TreesExpert*>(member.expert.get())) {
    Matrix squared = SquaredJumps(*trees);
    TurnBack(member.input_scaler, &squared);
    return squared;
  }
  const DeepGp& network = NetworkOf(member);
  if (network.input_dim() <= kMostMeasured) return MeasuredSquaredSlopes(member);
  Matrix squared = ExpectedSquaredSlopes(network);
  TurnBack(member.input_scaler, &squared);
  return squared;
}

}  // namespace

std::vector<std::string> ConstantColumns(const Model& model) {
  std::vector<std::string> constant;
  const auto add = [&](const std::vector<std::string>& names, const Scaler& scaler) {
    for (std::size_t c = 0; c < names.size(); ++c) {
      if (!scaler.Varies(static_cast<Index>(c))) constant.push_back(names[c]);
    }
  };
  add(model.schema().FeatureNames(), model.leader().input_scaler);
  add(model.schema().targets, model.leader().target_scaler);
  return constant;
}

namespace {

// [rows, columns] in the units of the file: some rows of the training, from a neighbour GP that
// holds them. Whitened ones are turned back.
Matrix RowsOf(const Model& model) {
  constexpr Index kMostRows = 200;
  for (const Member& member : model.members()) {
    const auto* expert = dynamic_cast<const NeighbourExpert*>(member.expert.get());
    if (expert == nullptr) continue;
    const Scaler& scaler = member.input_scaler;
    const Matrix& all = expert->rows().x.mean;
    const Index stride = std::max<Index>(1, all.rows() / kMostRows);
    Matrix rows((all.rows() + stride - 1) / stride, scaler.outputs());
    for (Index n = 0; n < rows.rows(); ++n) rows.row(n) = all.row(n * stride).head(rows.cols());
    if (scaler.directions.size() > 0) {
      const Matrix& P = scaler.directions;
      const Vector inverse = P.cwiseAbs2().colwise().sum().cwiseInverse();
      rows = Product({rows * inverse.asDiagonal()}, Transposed(P));
    }
    rows.conservativeResize(Eigen::NoChange, scaler.mean.size());  // without the warped ones
    return (rows * scaler.scale.asDiagonal()).rowwise() + scaler.mean.transpose();
  }
  return {};
}

// Slopes of the whole model's mean over half a standard deviation to both sides: neighbours make it
// too rough for smaller steps.
Matrix SquaredSlopesOfWhole(const Model& model, const Matrix& rows) {
  const ModelPredictor predictor(model, 1);
  const Scaler& scaler = model.members().back().input_scaler;
  const auto targets = static_cast<Index>(model.schema().targets.size());
  Matrix squared(targets, rows.cols());
  for (Index c = 0; c < rows.cols(); ++c) {
    const auto predict = [&](double step) {
      Matrix x = rows;
      x.col(c).array() += step * scaler.scale[c];
      return predictor.Predict(Moments::Certain(std::move(x))).Mean();
    };
    squared.col(c) = (predict(0.5) - predict(-0.5)).cwiseAbs2().colwise().mean().transpose();
  }
  return squared;
}

// [targets, columns]: averages over members, each of which is asked alone.
Matrix SquaredSlopesOfMembers(const Model& model) {
  const Member& leader = model.leader();
  Matrix squared = Matrix::Zero(leader.expert->num_outputs(), leader.input_scaler.mean.size());
  for (const auto& group : ByExpert(model.members())) {
    if (const double weight = WeightOf(group); weight > 0)
      squared += weight * SquaredSlopes(group.front());
  }
  // A target may have several functions: one for each class, or one for its noise behind all means.
  const auto targets = static_cast<Index>(model.schema().targets.size());
  for (Index d = targets; d < squared.rows(); ++d) squared.row(d % targets) += squared.row(d);
  squared.conservativeResize(targets, Eigen::NoChange);
  return squared;
}

// [functions, inputs]: inverse squares of the lengthscales that the member sees the columns with.
Matrix Bends(const Member& member) {
  Matrix bends;
  if (const DeepGp* network = FindNetwork(member)) {
    bends = Lengthscales(network->layers[0]).cwiseInverse().cwiseAbs2();
  } else if (const auto* expert = dynamic_cast<const NeighbourExpert*>(member.expert.get())) {
    bends.resize(expert->num_outputs(), member.input_scaler.outputs());
    for (Index t = 0; t < bends.rows(); ++t) {
      const Vector& l = expert->gps()[static_cast<std::size_t>(t)].lengthscales;
      bends.row(t) = l.head(bends.cols()).cwiseInverse().cwiseAbs2().transpose();
    }
  } else {
    bends = Matrix::Zero(1, member.input_scaler.outputs());
  }
  TurnBack(member.input_scaler, &bends);
  return bends;
}

}  // namespace

bool KnowsRelevance(const Model& model) {
  const auto is_known = [](const Member& member) {
    const Expert* expert = member.expert.get();
    return FindNetwork(member) != nullptr || dynamic_cast<const NeighbourExpert*>(expert) ||
           dynamic_cast<const LinearExpert*>(expert) ||
           dynamic_cast<const LogisticExpert*>(expert) || dynamic_cast<const TreesExpert*>(expert);
  };
  return std::all_of(model.members().begin(), model.members().end(), is_known);
}

Relevance FindRelevance(const Model& model) {
  const Scaler& scaler = model.leader().input_scaler;
  const Matrix rows = model.calibration() != nullptr ? RowsOf(model) : Matrix();
  const Matrix squared =
      rows.size() > 0 ? SquaredSlopesOfWhole(model, rows) : SquaredSlopesOfMembers(model);
  const Member& bending = FindNetwork(model.leader()) != nullptr || model.calibration() == nullptr
                              ? model.leader()
                              : model.members().back();
  const Matrix bends = Bends(bending);
  Relevance relevance;
  relevance.lengthscale =
      bends.colwise().maxCoeff().cwiseSqrt().cwiseInverse().transpose().cwiseProduct(scaler.scale);
  relevance.share = squared.cwiseSqrt();
  // A column that never varied cannot have taught the model anything.
  for (Index c = 0; c < squared.cols(); ++c) {
    if (!scaler.Varies(c)) relevance.share.col(c).setZero();
  }
  for (Index t = 0; t < squared.rows(); ++t) {
    const double largest = relevance.share.row(t).maxCoeff();
    if (largest > 0) relevance.share.row(t) /= largest;
  }
  return relevance;
}

}  // namespace fathom
