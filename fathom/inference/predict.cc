#include "fathom/inference/predict.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "fathom/base/error.h"
#include "fathom/inference/joint_rows.h"
#include "fathom/likelihood/observed.h"

namespace fathom {

namespace {

constexpr Index kPredictRows = 16;

Index NumTiles(Index rows) { return (rows + kPredictRows - 1) / kPredictRows; }

// Sends all rows up, tile by tile, and calls store(begin, top) with the first row of each tile and
// what its last layer handed on. `first_row` is the number of the first row, for its paths.
template <typename Store>
void ForEachTile(const Network& network, const PathSource& paths, Index first_row, const Moments& x,
                 const ThreadPool& pool, const Store& store) {
  pool.Run(NumTiles(x.rows()), [&](Index t) {
    thread_local Pass pass;  // its memory serves the tiles of a thread
    const Index begin = t * kPredictRows;
    const Index count = std::min(kPredictRows, x.rows() - begin);
    pass.Reserve(network, {0, network.model().num_layers()}, count, paths.samples);
    pass.raw().mean = x.mean.middleRows(begin, count);
    pass.raw().var = x.var.middleRows(begin, count);
    std::array<Index, kPredictRows> numbers;
    std::iota(numbers.begin(), numbers.end(), first_row + begin);
    pass.Up(network, paths, std::span(numbers).first(static_cast<std::size_t>(count)));
    store(begin, pass.top());
  });
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
  gps_.Prepare(model_, Cavity::Posterior(), pool_);
}

const Network& NetworkPredictor::NetworkFor(const Moments& x, bool variance) const {
  const bool uncertain = (x.var.array() != 0).any();
  Prepared& prepared = prepared_[uncertain ? 1 : 0][variance ? 1 : 0];
  std::call_once(prepared.once, [&] {
    prepared.network.Prepare(
        model_,
        {.uncertain = uncertain, .backward = false, .variance = variance, .precision = precision_},
        gps_, pool_);
  });
  return prepared.network;
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
  const PathSource paths = PathsFor(options);
  const Index S = paths.samples;
  Prediction out;
  out.components.resize(std::max<Index>(S, 1));
  for (Moments& component : out.components) component.Resize(x.rows(), model_.outputs());
  out.weights = Vector::Ones(1);
  if (observation) out.observations.assign(out.components.size(), observation);
  if (S > 0) {
    LogPathWeights(model_, S, &out.weights);
    out.weights = out.weights.array().exp();
  }
  // What is observed may have a mean that depends on the variance of f.
  const bool variance = !options.mean_alone || observation != nullptr;
  ForEachTile(NetworkFor(x, variance), paths, options.first_row, x, pool_,
              [&](Index begin, const Handed& top) {
                thread_local Moments tile;  // its memory serves the tiles of a thread
                tile = top.moments;
                if (!latent) model_.likelihood->Observe(model_.likelihood_parameters, &tile);
                StorePaths(tile, begin, &out.components);
              });
  return out;
}

FullMoments NetworkPredictor::PredictJoint(const Moments& x, bool latent) const {
  Network network;
  network.Prepare(model_,
                  {.uncertain = (x.var.array() != 0).any(), .backward = false, .joint = true}, gps_,
                  pool_);
  FullMoments out;
  out.SetZero(x.rows(), model_.outputs());
  ForEachTile(network, {}, 0, x, pool_, [&](Index begin, const Handed& top) {
    out.mean.middleRows(begin, top.joint.rows()) = top.joint.mean;
    std::copy(top.joint.cov.begin(), top.joint.cov.end(), out.cov.begin() + begin);
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

std::vector<Matrix> NetworkPredictor::Covariances(const Moments& x,
                                                  const PredictOptions& options) const {
  const Index targets = model_.likelihood->NumTargets(model_.outputs());
  JointDraws draws;
  if (options.samples > 0) draws.samples = options.samples;
  draws.seed = options.seed;
  return CovariancesOfRows(model_, gps_, x, targets, draws, pool_);
}

Matrix NetworkPredictor::ClassProbabilities(const Moments& x, PredictOptions options) const {
  options.latent = true;
  const Prediction f = Predict(x, options);
  const Index classes = model_.likelihood->NumClasses(model_.outputs());
  std::vector<Matrix> tiles(NumTiles(x.rows()));
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
