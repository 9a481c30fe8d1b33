#include "fathom/inference/predict.h"

#include <algorithm>
#include <cmath>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "fathom/inference/full_covariance.h"

namespace fathom {

namespace {

constexpr Index kPredictRows = 16;

// Memory of the layers for one tile, reused by the tiles of a thread.
struct Tile {
  std::vector<Network::LayerTape> tapes;
  std::vector<Moments> outputs;
};

Tile& ScratchTile(std::size_t layers) {
  thread_local Tile tile;
  tile.tapes.resize(layers);
  tile.outputs.resize(layers);
  return tile;
}

Moments MiddleRows(const Moments& x, Index begin, Index count) {
  return {Matrix(x.mean.middleRows(begin, count)), Matrix(x.var.middleRows(begin, count))};
}

void StoreRows(const Moments& tile, Index begin, Moments* out) {
  out->mean.middleRows(begin, tile.rows()) = tile.mean;
  out->var.middleRows(begin, tile.rows()) = tile.var;
}

// Draws hidden units in place: row n's draws come from its own stream.
void SampleInPlace(std::vector<RandomStream>* streams, Moments* hidden) {
  for (Index n = 0; n < hidden->rows(); ++n) {
    for (Index d = 0; d < hidden->cols(); ++d) {
      hidden->mean(n, d) += std::sqrt(hidden->var(n, d)) * (*streams)[n].Normal();
      hidden->var(n, d) = 0;
    }
  }
}

}  // namespace

Predictor::Predictor(DeepGp model, const ThreadPool& pool) : model_(std::move(model)), pool_(pool) {
  network_.Prepare(model_, Cavity::Posterior(), false, pool_);
}

const Network& Predictor::NetworkFor(const Moments& x) const {
  if ((x.var.array() == 0).all()) return network_;
  std::call_once(uncertain_once_,
                 [this] { uncertain_network_.Prepare(model_, Cavity::Posterior(), true, pool_); });
  return uncertain_network_;
}

Prediction Predictor::Predict(const Moments& x, const PredictOptions& options) const {
  Require(options.samples >= 0, "samples", "at least 0", options.samples);
  if (x.cols() != model_.input_dim()) {
    ThrowError("the model has ", model_.input_dim(), " inputs, the rows have ", x.cols());
  }
  if (model_.full_covariance && options.samples == 0)
    return Prediction::Gaussian(PredictJoint(x, options.latent).Diagonal());
  const Network& network = NetworkFor(x);
  const Index layers = model_.num_layers();
  // One GP layer under certain inputs has nothing to sample.
  const Index samples = layers == 1 ? 0 : options.samples;
  Prediction out;
  out.components.assign(std::max<Index>(samples, 1), Moments(x.rows(), model_.outputs()));
  out.weights = Vector::Constant(out.size(), 1.0 / static_cast<double>(out.size()));

  const Index tiles = (x.rows() + kPredictRows - 1) / kPredictRows;
  const auto run_tile = [&](Index t) {
    const Index begin = t * kPredictRows;
    const Index count = std::min(kPredictRows, x.rows() - begin);
    const Moments tile_x = MiddleRows(x, begin, count);
    Tile& tile = ScratchTile(static_cast<std::size_t>(layers));
    Moments first;
    network.Forward(0, tile_x, tile_x, &tile.tapes[0], &first);
    std::vector<RandomStream> streams;
    for (Index n = 0; n < count && samples > 0; ++n) {
      streams.emplace_back(options.seed, static_cast<std::uint64_t>(options.first_row + begin + n));
    }
    for (Moments& component : out.components) {
      tile.outputs[0] = first;
      for (Index l = 1; l < layers; ++l) {
        if (samples > 0) SampleInPlace(&streams, &tile.outputs[l - 1]);
        network.Forward(l, tile.outputs[l - 1], tile_x, &tile.tapes[l], &tile.outputs[l]);
      }
      Moments& top = tile.outputs[layers - 1];
      if (!options.latent) model_.likelihood->Observe(model_.likelihood_parameters, &top);
      StoreRows(top, begin, &component);
    }
  };
  pool_.Run(tiles, run_tile);
  return out;
}

FullMoments Predictor::PredictJoint(const Moments& x, bool latent) const {
  FullLayers full;
  full.Prepare(NetworkFor(x), (x.var.array() != 0).any());
  FullMoments out;
  out.SetZero(x.rows(), model_.outputs());
  pool_.Run((x.rows() + kPredictRows - 1) / kPredictRows, [&](Index t) {
    const Index begin = t * kPredictRows;
    const Index count = std::min(kPredictRows, x.rows() - begin);
    const FullMoments top = full.Forward(MiddleRows(x, begin, count)).back();
    out.mean.middleRows(begin, count) = top.mean;
    for (Index n = 0; n < count; ++n) out.cov[begin + n] = top.cov[n];
  });
  if (latent) return out;
  // The likelihood turns the marginals of f into those of y; the noise of outputs is independent.
  Moments y = out.Diagonal();
  model_.likelihood->Observe(model_.likelihood_parameters, &y);
  out.mean = y.mean;
  for (Index n = 0; n < x.rows(); ++n) out.cov[n].diagonal() = y.var.row(n).transpose();
  return out;
}

Matrix Predictor::ClassProbabilities(const Moments& x, PredictOptions options) const {
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
                                                        MiddleRows(f.components[s], begin, count));
    }
  });
  Matrix probability(x.rows(), classes);
  for (std::size_t t = 0; t < tiles.size(); ++t)
    probability.middleRows(static_cast<Index>(t) * kPredictRows, tiles[t].rows()) = tiles[t];
  return probability;
}

}  // namespace fathom
