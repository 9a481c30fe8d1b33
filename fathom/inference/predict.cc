#include "fathom/inference/predict.h"

#include <algorithm>
#include <numeric>

#include "fathom/base/error.h"
#include "fathom/inference/full_covariance.h"
#include "fathom/likelihood/observed.h"

namespace fathom {

namespace {

constexpr Index kPredictRows = 16;

// Memory of the layers for one tile, reused by the tiles of a thread.
struct Tile {
  std::vector<Network::LayerTape> tapes;
  std::vector<Moments> outputs;
  std::vector<Index> rows;
  Matrix eps;
  Moments draws, raw;  // of the paths
};

Tile& ScratchTile(std::size_t layers) {
  thread_local Tile tile;
  tile.tapes.resize(layers);
  tile.outputs.resize(layers);
  return tile;
}

// Row p of the tile is path p % S of its row: component p % S of the mixture.
void StorePaths(const Moments& tile, Index begin, std::vector<Moments>* components) {
  const auto S = static_cast<Index>(components->size());
  for (Index p = 0; p < tile.rows(); ++p) {
    Moments& component = (*components)[p % S];
    component.mean.row(begin + p / S) = tile.mean.row(p);
    component.var.row(begin + p / S) = tile.var.row(p);
  }
}

}  // namespace

NetworkPredictor::NetworkPredictor(DeepGp model, const ThreadPool& pool, Precision precision)
    : model_(std::move(model)), pool_(pool), precision_(precision) {
  network_.Prepare(model_, Cavity::Posterior(), {.backward = false, .precision = precision_},
                   pool_);
}

const Network& NetworkPredictor::NetworkFor(const Moments& x) const {
  if ((x.var.array() == 0).all()) return network_;
  std::call_once(uncertain_once_, [this] {
    uncertain_network_.Prepare(model_, Cavity::Posterior(),
                               {.uncertain = true, .backward = false, .precision = precision_},
                               pool_);
  });
  return uncertain_network_;
}

PathSource NetworkPredictor::PathsFor(const PredictOptions& options) const {
  constexpr Index kPaths = 100;
  if (model_.num_layers() == 1) return {};  // nothing to sample
  Index samples = options.samples;
  if (model_.propagation == Propagation::kPoints) samples = model_.num_paths();
  if (model_.propagation == Propagation::kSamples && samples == 0) samples = kPaths;
  return {.samples = samples, .seed = options.seed};
}

Prediction NetworkPredictor::Predict(const Moments& x, const PredictOptions& options) const {
  Require(options.samples >= 0, "samples", "at least 0", options.samples);
  if (x.cols() != model_.input_dim()) {
    ThrowError("the model has ", model_.input_dim(), " inputs, the rows have ", x.cols());
  }
  const std::shared_ptr<const Observation> observation =
      options.latent
          ? nullptr
          : MakeObservation(model_.likelihood, model_.likelihood_parameters, model_.outputs());
  const bool latent = options.latent || observation;  // what is observed comes on top
  if (model_.full_covariance && options.samples == 0) {
    Prediction joint = Prediction::Gaussian(PredictJoint(x, latent).Diagonal());
    if (observation) joint.observations.push_back(observation);
    return joint;
  }
  const Network& network = NetworkFor(x);
  const Index layers = model_.num_layers();
  const PathSource paths = PathsFor(options);
  const Index S = paths.samples;
  Prediction out;
  out.components.assign(std::max<Index>(S, 1), Moments(x.rows(), model_.outputs()));
  out.weights = Vector::Ones(1);
  if (observation) out.observations.assign(out.components.size(), observation);
  if (S > 0) {
    LogPathWeights(model_, S, &out.weights);
    out.weights = out.weights.array().exp();
  }

  const Index tiles = (x.rows() + kPredictRows - 1) / kPredictRows;
  const auto run_tile = [&](Index t) {
    const Index begin = t * kPredictRows;
    const Index count = std::min(kPredictRows, x.rows() - begin);
    const Moments tile_x = x.MiddleRows(begin, count);
    Tile& tile = ScratchTile(static_cast<std::size_t>(layers));
    network.Forward(0, tile_x, tile_x, &tile.tapes[0], &tile.outputs[0]);
    if (S > 0) {
      tile.rows.resize(static_cast<std::size_t>(count));
      std::iota(tile.rows.begin(), tile.rows.end(), options.first_row + begin);
      DrawPaths(model_, paths, tile.rows, &tile.eps);
      RepeatRows(tile_x, S, &tile.raw);
    }
    for (Index l = 1; l < layers; ++l) {
      const Moments& below = tile.outputs[l - 1];
      if (S > 0) {
        DrawHidden(below, l == 1 ? S : 1,
                   tile.eps.middleCols(model_.first_unit(l - 1), below.cols()), &tile.draws);
      }
      network.Forward(l, S > 0 ? tile.draws : below, S > 0 ? tile.raw : tile_x, &tile.tapes[l],
                      &tile.outputs[l]);
    }
    Moments& top = tile.outputs[layers - 1];
    if (!latent) model_.likelihood->Observe(model_.likelihood_parameters, &top);
    StorePaths(top, begin, &out.components);
  };
  pool_.Run(tiles, run_tile);
  return out;
}

FullMoments NetworkPredictor::PredictJoint(const Moments& x, bool latent) const {
  FullLayers full;
  full.Prepare(NetworkFor(x), (x.var.array() != 0).any());
  FullMoments out;
  out.SetZero(x.rows(), model_.outputs());
  pool_.Run((x.rows() + kPredictRows - 1) / kPredictRows, [&](Index t) {
    const Index begin = t * kPredictRows;
    const Index count = std::min(kPredictRows, x.rows() - begin);
    const FullMoments top = full.Forward(x.MiddleRows(begin, count)).back();
    out.mean.middleRows(begin, count) = top.mean;
    for (Index n = 0; n < count; ++n) out.cov[begin + n] = top.cov[n];
  });
  if (latent) return out;
  if (!model_.likelihood->ObservesGaussian()) {
    ThrowError("the joint moments of y are known for Gaussian noise, not for the likelihood '",
               model_.likelihood->Name(), "'; ask for those of f");
  }
  // The likelihood turns the marginals of f into those of y; the noise of outputs is independent.
  Moments y = out.Diagonal();
  model_.likelihood->Observe(model_.likelihood_parameters, &y);
  out.mean = y.mean;
  for (Index n = 0; n < x.rows(); ++n) out.cov[n].diagonal() = y.var.row(n).transpose();
  return out;
}

Matrix NetworkPredictor::ClassProbabilities(const Moments& x, PredictOptions options) const {
  options.latent = true;
  const Prediction f = Predict(x, options);
  const Index classes = model_.likelihood->NumClasses(model_.outputs());
  std::vector<Matrix> tiles((x.rows() + kPredictRows - 1) / kPredictRows);
  pool_.Run(static_cast<Index>(tiles.size()), [&](Index t) {
    const Index begin = t * kPredictRows;
    const Index count = std::min(kPredictRows, x.rows() - begin);
    tiles[t].setZero(count, classes);
    for (Index s = 0; s < f.size(); ++s) {
      tiles[t] += f.weights[s] *
                  model_.likelihood->ClassProbabilities(model_.likelihood_parameters,
                                                        f.components[s].MiddleRows(begin, count));
    }
  });
  Matrix probability(x.rows(), classes);
  for (std::size_t t = 0; t < tiles.size(); ++t)
    probability.middleRows(static_cast<Index>(t) * kPredictRows, tiles[t].rows()) = tiles[t];
  return probability;
}

}  // namespace fathom
