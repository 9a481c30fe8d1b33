#include "fathom/inference/latent.h"

#include <algorithm>

#include "fathom/base/error.h"
#include "fathom/inference/log_z.h"

namespace fathom {

LatentFunctions::LatentFunctions(DeepGp model, const ThreadPool& pool)
    : model_(std::move(model)), pool_(pool) {
  // Moments are shown, whatever way the model was trained and predicts.
  model_.propagation = Propagation::kMoments;
  gps_.Prepare(model_, Cavity::Posterior(), pool_);
  network_.Prepare(model_, {.uncertain = true, .backward = false}, gps_, pool_);
}

Moments LatentFunctions::Layer(Index layer, const Moments& below, const Moments& raw) const {
  Require(layer >= 0 && layer < model_.num_layers(), "layer", "one of the model's", layer);
  const GpLayer& gps = model_.layers[layer];
  const Index inputs = below.cols() + (gps.skip ? raw.cols() : 0);
  if (inputs != gps.inputs() || (gps.skip && raw.rows() != below.rows())) {
    ThrowError("layer ", layer, " has ", gps.inputs(), " inputs, the rows have ", inputs);
  }
  Moments out(below.rows(), gps.outputs());
  const auto run_tile = [&](Index tile) {
    const Index begin = tile * kTileRows;
    const Index count = std::min(kTileRows, below.rows() - begin);
    Pass pass;
    pass.Reserve(network_, {layer, layer + 1}, count, 0);
    pass.entered().moments = below.MiddleRows(begin, count);
    if (pass.NeedsRaw()) pass.raw() = raw.MiddleRows(begin, count);
    pass.Up(network_, {}, {});
    out.mean.middleRows(begin, count) = pass.top().moments.mean;
    out.var.middleRows(begin, count) = pass.top().moments.var;
  };
  pool_.Run((below.rows() + kTileRows - 1) / kTileRows, run_tile);
  return out;
}

std::vector<Moments> LatentFunctions::AllLayers(const Moments& x) const {
  std::vector<Moments> layers;
  for (Index l = 0; l < model_.num_layers(); ++l) {
    Moments next = Layer(l, l == 0 ? x : layers.back(), x);
    layers.push_back(std::move(next));
  }
  return layers;
}

}  // namespace fathom
