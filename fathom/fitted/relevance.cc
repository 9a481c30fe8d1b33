#include "fathom/fitted/relevance.h"

#include "fathom/fitted/by_expert.h"
#include "fathom/fitted/deep_gp_expert.h"
#include "fathom/fitted/describe.h"
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
    const Matrix slopes = above * SquaredSlopes(network.layers[l]);
    const Index below = l == 0 ? 0 : network.layers[l - 1].outputs();
    if (l == 0 || network.layers[l].skip) squared += slopes.rightCols(slopes.cols() - below);
    above = slopes.leftCols(below);
  }
  return squared;
}

// From the inputs of the network to the columns, of squared slopes or of what behaves as they do.
void TurnBack(const Scaler& scaler, Matrix* squared) {
  if (scaler.directions.size() > 0)
    *squared = Matrix(*squared * scaler.directions.cwiseAbs2().transpose());
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
  if (directions.size() > 0) slopes = Matrix(slopes * directions.transpose());
  Matrix squared(outputs, slopes.cols());
  for (Index d = 0; d < outputs; ++d)
    squared.row(d) = slopes.middleRows(d * Z.rows(), Z.rows()).cwiseAbs2().colwise().mean();
  return squared;
}

// [outputs, columns] of one network.
Matrix SquaredSlopes(const Member& member) {
  constexpr Index kMostMeasured = 1000;
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

Relevance FindRelevance(const Model& model) {
  const Member& leader = model.leader();
  const Scaler& scaler = leader.input_scaler;
  const std::vector<Member>& members = model.members();
  Matrix squared = Matrix::Zero(leader.expert->num_outputs(), scaler.mean.size());
  for (const auto& group : ByExpert(members))
    squared += WeightOf(group) * SquaredSlopes(group.front());
  Matrix bends = Lengthscales(NetworkOf(leader).layers[0]).cwiseInverse().cwiseAbs2();
  TurnBack(scaler, &bends);
  // A target may have several functions: one for each class, or one for its noise behind all means.
  const auto targets = static_cast<Index>(model.schema().targets.size());
  for (Index d = targets; d < squared.rows(); ++d) squared.row(d % targets) += squared.row(d);
  squared.conservativeResize(targets, Eigen::NoChange);
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
