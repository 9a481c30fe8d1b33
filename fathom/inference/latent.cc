#include "fathom/inference/latent.h"

#include <algorithm>

#include "fathom/base/error.h"

namespace fathom {

namespace {

constexpr Index kTileRows = 16;

}  // namespace

LatentFunctions::LatentFunctions(DeepGp model, const ThreadPool& pool)
    : model_(std::move(model)), pool_(pool) {
  // Moments are shown, whatever way the model was trained and predicts.
  model_.propagation = Propagation::kMoments;
  network_.Prepare(model_, Cavity::Posterior(), {.uncertain = true, .backward = false}, pool_);
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
    Network::LayerTape tape;
    Moments result;
    network_.Forward(layer, below.MiddleRows(begin, count),
                     gps.skip ? raw.MiddleRows(begin, count) : Moments(), &tape, &result);
    out.mean.middleRows(begin, count) = result.mean;
    out.var.middleRows(begin, count) = result.var;
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
