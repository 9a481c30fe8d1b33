#include "fathom/inference/log_z.h"

#include <algorithm>

#include "fathom/base/error.h"

namespace fathom {

namespace {

using Chunk = LogZWorkspace::Chunk;
using Tile = LogZWorkspace::Tile;

struct Task {
  const Network& network;
  const LogZOptions& options;
  const Moments& x;
  const Matrix& y;
  const Vector& weights;  // of the rows, or empty
  Want want;
  const Vector& log_weights;  // of the paths
  Index paths() const { return options.paths.samples; }
};

Index TileRows(Index paths) {
  return paths == 0 ? kTileRows : std::max<Index>(1, kTilePaths / paths);
}

void ReservePaths(const DeepGp& model, Index rows, Index paths, Tile* tile) {
  const Index layers = model.num_layers();
  tile->path_x.Resize(rows * paths, model.input_dim());
  tile->eps.resize(rows * paths, model.num_hidden_units());
  tile->draws.resize(static_cast<std::size_t>(layers - 1));
  tile->d_draws.resize(tile->draws.size());
  for (Index l = 0; l + 1 < layers; ++l) {
    tile->draws[l].Resize(rows * paths, model.layers[l].outputs());
    tile->d_draws[l].Resize(rows * paths, model.layers[l].outputs());
  }
  tile->d_log_weights.resize(paths);
}

void Reserve(const Network& network, Index rows, Index paths, Tile* tile) {
  const DeepGp& model = network.model();
  const auto layers = static_cast<std::size_t>(model.num_layers());
  tile->x.Resize(rows, model.input_dim());
  tile->outputs.resize(layers);
  tile->d_outputs.resize(layers);
  tile->tapes.resize(layers);
  for (std::size_t l = 0; l < layers; ++l) {
    const Index path_rows = l == 0 || paths == 0 ? rows : rows * paths;
    tile->outputs[l].Resize(path_rows, model.layers[l].outputs());
    tile->d_outputs[l].Resize(path_rows, model.layers[l].outputs());
    if (l > 0) network.Reserve(static_cast<Index>(l), path_rows, &tile->tapes[l]);
  }
  tile->log_z.resize(std::max<Index>(paths, 1));
  tile->d_likelihood.resize(tile->log_z.size(), model.likelihood_parameters.size());
  if (paths > 0) ReservePaths(model, rows, paths, tile);
}

void Reserve(const Network& network, Index rows, Index targets, Index paths, Chunk* chunk) {
  const DeepGp& model = network.model();
  chunk->x.Resize(rows, model.input_dim());
  chunk->y.resize(rows, targets);
  chunk->hidden.Resize(rows, model.layers[0].outputs());
  chunk->d_hidden.Resize(rows, model.layers[0].outputs());
  network.Reserve(0, rows, &chunk->tape);
  const Index tile_rows = TileRows(paths);
  Reserve(network, std::min(rows, tile_rows), paths, &chunk->whole);
  if (rows > tile_rows) Reserve(network, rows % tile_rows, paths, &chunk->last);
}

void CopyRows(const Moments& from, Index begin, Index count, Moments* to) {
  to->mean = from.mean.middleRows(begin, count);
  to->var = from.var.middleRows(begin, count);
}

// log Z of row `n` of y given row `p` of the moments f of the last layer; its slopes go to row p of
// d_f and are added to d_likelihood.
double Observe(const Task& task, const Matrix& y, Index n, const Moments& f, Index p, Moments* d_f,
               double* d_likelihood) {
  const DeepGp& model = task.network.model();
  return model.likelihood->LogZ(model.likelihood_parameters, task.options.alpha, model.outputs(),
                                y.row(n).data(), f.mean.row(p).data(), f.var.row(p).data(),
                                d_f->mean.row(p).data(), d_f->var.row(p).data(), d_likelihood);
}

// Row `n` of y, by its weight: its one set of moments, or its paths, which meet here. They are rows
// from `first` on of the tile's last layer.
void ObserveRow(const Task& task, const Matrix& y, Index n, double weight, Index first, Tile* tile,
                Network::Sums* sums) {
  Moments& d_f = tile->d_outputs.back();
  Vector& log_z = tile->log_z;
  const Index count = log_z.size();
  tile->d_likelihood.setZero();
  for (Index s = 0; s < count; ++s) {
    log_z[s] = Observe(task, y, n, tile->outputs.back(), first + s, &d_f,
                       tile->d_likelihood.row(s).data());
  }
  Vector& share = log_z;  // of log Z: its slope with respect to the log Z of each path
  if (task.paths() == 0) {
    sums->log_z += weight * log_z[0];
    share[0] = weight;
  } else {
    sums->log_z += weight * MixPaths(task.log_weights, task.options.alpha, task.options.outer,
                                     log_z.data(), tile->d_log_weights.data());
    share *= weight;
    if (sums->point_log_weights.size() > 0) sums->point_log_weights += weight * tile->d_log_weights;
  }
  d_f.mean.middleRows(first, count).array().colwise() *= share.array();
  d_f.var.middleRows(first, count).array().colwise() *= share.array();
  if (sums->likelihood.size() > 0)
    sums->likelihood.noalias() += tile->d_likelihood.transpose() * share;
}

// Layers 1.. and the likelihood, up and down again, for the tile that begins at row `first` of the
// chunk; as moments, or along the paths of `rows`.
void TileUpAndDown(const Task& task, Index first, std::span<const Index> rows, Tile* tile,
                   Chunk* chunk, Network::Sums* sums) {
  const Network& network = task.network;
  const DeepGp& model = network.model();
  const Index top = model.num_layers() - 1;
  const Index count = tile->x.rows();
  const Index S = task.paths();
  CopyRows(chunk->x, first, count, &tile->x);
  CopyRows(chunk->hidden, first, count, &tile->outputs[0]);
  if (S > 0) {
    DrawPaths(model, task.options.paths, rows, &tile->eps);
    RepeatRows(tile->x, S, &tile->path_x);
  }
  // Of the units of layer l, the columns among those of all layers; paths begin above layer 0.
  const auto units = [&](Index l, Matrix* all) {
    return all->middleCols(model.first_unit(l), model.layers[l].outputs());
  };
  const auto repeat = [S](Index l) { return l == 0 ? S : 1; };
  for (Index l = 1; l <= top; ++l) {
    const Moments& below = tile->outputs[l - 1];
    if (S > 0) DrawHidden(below, repeat(l - 1), units(l - 1, &tile->eps), &tile->draws[l - 1]);
    network.Forward(l, S > 0 ? tile->draws[l - 1] : below, S > 0 ? tile->path_x : tile->x,
                    &tile->tapes[l], &tile->outputs[l]);
  }
  for (Index n = 0; n < count; ++n) {
    const double weight = task.weights.size() == 0 ? 1 : task.weights[rows[n]];
    ObserveRow(task, chunk->y, first + n, weight, n * std::max<Index>(S, 1), tile, sums);
  }
  if (task.want == Want::kValue) return;
  for (Index l = top; l >= 1; --l) {
    Moments& d_below = tile->d_outputs[l - 1];
    network.Backward(l, tile->d_outputs[l], &tile->tapes[l], sums,
                     S > 0 ? &tile->d_draws[l - 1] : &d_below);
    if (S == 0) continue;
    DrawHiddenBackward(tile->outputs[l - 1], repeat(l - 1), units(l - 1, &tile->eps),
                       tile->d_draws[l - 1].mean, &d_below);
    if (model.propagation == Propagation::kPoints)
      PointsBackward(tile->outputs[l - 1], repeat(l - 1), tile->d_draws[l - 1].mean,
                     units(l - 1, &sums->points));
  }
  chunk->d_hidden.mean.middleRows(first, count) = tile->d_outputs[0].mean;
  chunk->d_hidden.var.middleRows(first, count) = tile->d_outputs[0].var;
}

void ChunkUpAndDown(const Task& task, std::span<const Index> rows, Chunk* chunk,
                    Network::Sums* sums) {
  const auto count = static_cast<Index>(rows.size());
  for (Index n = 0; n < count; ++n) {
    chunk->x.mean.row(n) = task.x.mean.row(rows[n]);
    chunk->x.var.row(n) = task.x.var.row(rows[n]);
    chunk->y.row(n) = task.y.row(rows[n]);
  }
  task.network.Forward(0, chunk->x, chunk->x, &chunk->tape, &chunk->hidden);
  for (Index first = 0; first < count; first += chunk->whole.x.rows()) {
    const bool whole = count - first >= chunk->whole.x.rows();
    Tile* tile = whole ? &chunk->whole : &chunk->last;
    TileUpAndDown(task, first, rows.subspan(first, tile->x.rows()), tile, chunk, sums);
  }
  if (task.want == Want::kGradient)
    task.network.Backward(0, chunk->d_hidden, &chunk->tape, sums, nullptr);
}

// Each slot sums every slots-th chunk. Their number depends on the rows and the model alone; more
// slots would let more threads work but cost more memory traffic to clear and add: 8 % of a step of
// 1024 rows with 16 of them, M = 100.
Index NumSlots(Index rows, Index bytes_per_slot) {
  constexpr Index kMaxBytes = Index{256} << 20;
  const Index most = std::clamp<Index>(rows / 256, 8, 32);
  const Index by_memory = std::max<Index>(1, kMaxBytes / bytes_per_slot);
  return std::clamp<Index>(rows / kChunkRows, 1, std::min(most, by_memory));
}

}  // namespace

const Network::Sums& SumLogZ(const Network& network, const LogZOptions& options, const Moments& x,
                             const Matrix& y, const Vector& weights, std::span<const Index> rows,
                             Want want, const ThreadPool& pool, LogZWorkspace* workspace) {
  const DeepGp& model = network.model();
  FATHOM_CHECK(y.cols() == model.likelihood->NumTargets(model.outputs()) &&
               x.cols() == model.input_dim());
  const Index chunk_rows = network.uncertain_inputs() ? kTileRows : kChunkRows;
  const auto count = static_cast<Index>(rows.size());
  const Index chunks = (count + chunk_rows - 1) / chunk_rows;
  const Index slots = NumSlots(count, network.SumsBytes());
  if (static_cast<Index>(workspace->sums.size()) < slots) workspace->sums.resize(slots);
  workspace->workers.resize(pool.size());
  const Index paths = options.paths.samples;
  for (LogZWorkspace::Scratch& scratch : workspace->workers) {
    Reserve(network, std::min(count, chunk_rows), y.cols(), paths, &scratch.whole);
    if (count > chunk_rows) Reserve(network, count % chunk_rows, y.cols(), paths, &scratch.last);
  }
  if (paths > 0) LogPathWeights(model, paths, &workspace->log_weights);
  const Task task{network, options, x, y, weights, want, workspace->log_weights};
  pool.Run(slots, [&](Index slot, int worker) {
    LogZWorkspace::Scratch& scratch = workspace->workers[worker];
    Network::Sums& sums = workspace->sums[slot];
    network.ResetSums(&sums);
    for (Index c = slot; c < chunks; c += slots) {
      const Index begin = c * chunk_rows;
      const bool whole = count - begin >= scratch.whole.x.rows();
      Chunk& chunk = whole ? scratch.whole : scratch.last;
      ChunkUpAndDown(task, rows.subspan(begin, chunk.x.rows()), &chunk, &sums);
    }
  });
  network.AddToFirst({workspace->sums.data(), static_cast<std::size_t>(slots)}, pool);
  return workspace->sums[0];
}

}  // namespace fathom
