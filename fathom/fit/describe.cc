#include "fathom/fit/describe.h"

#include <algorithm>
#include <sstream>

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

std::vector<std::string> ConstantColumns(const Model& model) {
  std::vector<std::string> constant;
  const auto add = [&](const std::vector<std::string>& names, const Scaler& scaler) {
    for (std::size_t c = 0; c < names.size(); ++c) {
      if (scaler.missing_var[static_cast<Index>(c)] == 0) constant.push_back(names[c]);
    }
  };
  add(model.input_names, model.input_scaler);
  add(model.target_names, model.target_scaler);
  return constant;
}

Vector NoiseStd(const Model& model) {
  // What an observation adds to a function that is known to be zero.
  Moments observed;
  observed.SetZero(1, model.network.outputs());
  model.network.likelihood->Observe(model.network.likelihood_parameters, &observed);
  const Vector std = observed.var.row(0).cwiseSqrt();
  return std.cwiseProduct(model.target_scaler.scale);
}

}  // namespace fathom
