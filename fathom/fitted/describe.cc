#include "fathom/fitted/describe.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "fathom/base/error.h"
#include "fathom/fitted/deep_gp_expert.h"

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

Vector ObservationVariance(const DeepGp& network) {
  Moments observed;
  observed.SetZero(1, network.outputs());
  network.likelihood->Observe(network.likelihood_parameters, &observed);
  return observed.var.row(0);
}

Vector NoiseStd(const DeepGp& network, const Scaler& target_scaler) {
  if (!network.likelihood->TakesScaledTargets()) return {};
  return ObservationVariance(network).cwiseSqrt().cwiseProduct(target_scaler.scale);
}

Vector NoiseStd(const Member& member) {
  const double scale = std::sqrt(member.noise_scale);
  if (const DeepGp* network = FindNetwork(member))
    return scale * NoiseStd(*network, member.target_scaler);
  Vector noise = member.expert->NoiseVariance();
  if (noise.size() == 0) return noise;
  return scale * noise.cwiseSqrt().cwiseProduct(member.target_scaler.scale);
}

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

}  // namespace fathom
