#include "fathom/fitted/describe.h"

#include <algorithm>
#include <sstream>

#include "fathom/base/error.h"

namespace fathom {

std::string DescribeNetwork(const DeepGp& network) {
  std::ostringstream text;
  text << network.input_dim() << (network.input_dim() == 1 ? " input" : " inputs");
  std::vector<Index> inducing;
  for (Index l = 0; l < network.num_layers(); ++l) {
    const GpLayer& layer = network.layers[l];
    text << " -> " << layer.outputs();
    if (l + 1 < network.num_layers()) {
      text << " hidden";
    } else {
      text << (layer.outputs() == 1 ? " output" : " outputs");
    }
    inducing.push_back(layer.gps.front().num_inducing());
  }
  text << ", ";
  const bool alike = std::count(inducing.begin(), inducing.end(), inducing[0]) ==
                     static_cast<std::ptrdiff_t>(inducing.size());
  for (std::size_t l = 0; l < (alike ? 1 : inducing.size()); ++l) {
    text << (l == 0 ? "" : ", ") << inducing[l];
  }
  text << (alike && inducing[0] == 1 ? " pseudo-point" : " pseudo-points") << " per function";
  return text.str();
}

std::string DescribePropagation(const DeepGp& network) {
  switch (network.propagation) {
    case Propagation::kMoments:
      return "moments";
    case Propagation::kSamples:
      return std::to_string(network.samples) + " samples";
    case Propagation::kPoints:
      return std::to_string(network.points.rows()) + " points";
  }
  throw InternalError("an unknown propagation");
}

std::vector<std::string> ConstantColumns(const Model& model) {
  std::vector<std::string> constant;
  const auto add = [&](const std::vector<std::string>& names, const Scaler& scaler) {
    for (std::size_t c = 0; c < names.size(); ++c) {
      if (!scaler.Varies(static_cast<Index>(c))) constant.push_back(names[c]);
    }
  };
  add(model.input_names, model.input_scaler);
  add(model.target_names, model.target_scaler);
  return constant;
}

Vector ObservationVariance(const DeepGp& network) {
  Moments observed;
  observed.SetZero(1, network.outputs());
  network.likelihood->Observe(network.likelihood_parameters, &observed);
  return observed.var.row(0);
}

Vector NoiseStd(const Model& model) {
  if (!model.network.likelihood->TakesScaledTargets()) return {};
  return ObservationVariance(model.network).cwiseSqrt().cwiseProduct(model.target_scaler.scale);
}

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
Matrix MeasuredSquaredSlopes(const Model& model) {
  constexpr double kStep = 0.05;
  const ThreadPool pool(1);
  const NetworkPredictor predictor(model.network, pool);
  const Matrix& Z = model.network.layers[0].gps[0].Z;
  const Index outputs = model.network.outputs();
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
  const Matrix& directions = model.input_scaler.directions;
  if (directions.size() > 0) slopes = Matrix(slopes * directions.transpose());
  Matrix squared(outputs, slopes.cols());
  for (Index d = 0; d < outputs; ++d)
    squared.row(d) = slopes.middleRows(d * Z.rows(), Z.rows()).cwiseAbs2().colwise().mean();
  return squared;
}

// [outputs, columns] of one network.
Matrix SquaredSlopes(const Model& model) {
  constexpr Index kMostMeasured = 1000;
  if (model.network.input_dim() <= kMostMeasured) return MeasuredSquaredSlopes(model);
  Matrix squared = ExpectedSquaredSlopes(model.network);
  TurnBack(model.input_scaler, &squared);
  return squared;
}

}  // namespace

Matrix Lengthscales(const GpLayer& layer) {
  Matrix lengthscales(layer.outputs(), layer.inputs());
  Matrix variance;
  for (Index d = 0; d < layer.outputs(); ++d) {
    const SparseGp& gp = layer.gps[d];
    gp.kernel->Gram(gp.theta, Matrix::Zero(1, gp.input_dim()), &variance);
    const Vector slopes = gp.kernel->SlopeVariance(gp.theta, gp.input_dim());
    lengthscales.row(d) = (variance(0, 0) / slopes.array()).sqrt().matrix().transpose();
  }
  return lengthscales;
}

Relevance FindRelevance(const Model& model) {
  Matrix squared = Matrix::Zero(model.network.outputs(), model.input_scaler.mean.size());
  for (const Model* network : NetworksOf(model))
    squared += (network->share + network->wide_share) * SquaredSlopes(*network);
  Matrix bends = Lengthscales(model.network.layers[0]).cwiseInverse().cwiseAbs2();
  TurnBack(model.input_scaler, &bends);
  // A target may have several functions: one for each class, or one for its noise behind all means.
  const auto targets = static_cast<Index>(model.target_names.size());
  for (Index d = targets; d < squared.rows(); ++d) squared.row(d % targets) += squared.row(d);
  squared.conservativeResize(targets, Eigen::NoChange);
  Relevance relevance;
  relevance.lengthscale =
      bends.colwise().maxCoeff().cwiseSqrt().cwiseInverse().transpose().cwiseProduct(
          model.input_scaler.scale);
  relevance.share = squared.cwiseSqrt();
  // A column that never varied cannot have taught the model anything.
  for (Index c = 0; c < squared.cols(); ++c) {
    if (!model.input_scaler.Varies(c)) relevance.share.col(c).setZero();
  }
  for (Index t = 0; t < squared.rows(); ++t) {
    const double largest = relevance.share.row(t).maxCoeff();
    if (largest > 0) relevance.share.row(t) /= largest;
  }
  return relevance;
}

}  // namespace fathom
