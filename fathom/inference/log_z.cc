#include "fathom/inference/log_z.h"

#include <algorithm>

#include "fathom/base/error.h"

namespace fathom {

namespace {

using Chunk = LogZWorkspace::Chunk;
using Tile = LogZWorkspace::Tile;

struct Task {
  const Network& network;
  double alpha;
  const Moments& x;
  const Matrix& y;
  Want want;
};

void Reserve(const Network& network, Index rows, Tile* tile) {
  const DeepGp& model = network.model();
  const auto layers = static_cast<std::size_t>(model.num_layers());
  tile->x.Resize(rows, model.input_dim());
  tile->outputs.resize(layers);
  tile->d_outputs.resize(layers);
  tile->tapes.resize(layers);
  for (std::size_t l = 0; l < layers; ++l) {
    tile->outputs[l].Resize(rows, model.layers[l].outputs());
    tile->d_outputs[l].Resize(rows, model.layers[l].outputs());
    if (l > 0) network.Reserve(static_cast<Index>(l), rows, &tile->tapes[l]);
  }
}

void Reserve(const Network& network, Index rows, Index targets, Chunk* chunk) {
  const DeepGp& model = network.model();
  chunk->x.Resize(rows, model.input_dim());
  chunk->y.resize(rows, targets);
  chunk->hidden.Resize(rows, model.layers[0].outputs());
  chunk->d_hidden.Resize(rows, model.layers[0].outputs());
  network.Reserve(0, rows, &chunk->tape);
  Reserve(network, std::min(rows, kTileRows), &chunk->whole);
  if (rows > kTileRows) Reserve(network, rows % kTileRows, &chunk->last);
}

void CopyRows(const Moments& from, Index begin, Index count, Moments* to) {
  to->mean = from.mean.middleRows(begin, count);
  to->var = from.var.middleRows(begin, count);
}

// log Z of the tile's rows, which begin at row `first` of y, given the moments f of the last layer;
// its slopes go to d_f.
void Observe(const Task& task, Index first, const Matrix& y, const Moments& f, Moments* d_f,
             Network::Sums* sums) {
  const DeepGp& model = task.network.model();
  for (Index n = 0; n < f.rows(); ++n) {
    sums->log_z += model.likelihood->LogZ(model.likelihood_parameters, task.alpha, model.outputs(),
                                          y.row(first + n).data(), f.mean.row(n).data(),
                                          f.var.row(n).data(), d_f->mean.row(n).data(),
                                          d_f->var.row(n).data(), sums->likelihood.data());
  }
}

// Layers 1.. and the likelihood, up and down again, for the tile that begins at row `first` of the
// chunk.
void TileUpAndDown(const Task& task, Index first, Tile* tile, Chunk* chunk, Network::Sums* sums) {
  const Network& network = task.network;
  const Index top = network.model().num_layers() - 1;
  const Index count = tile->x.rows();
  CopyRows(chunk->x, first, count, &tile->x);
  CopyRows(chunk->hidden, first, count, &tile->outputs[0]);
  for (Index l = 1; l <= top; ++l)
    network.Forward(l, tile->outputs[l - 1], tile->x, &tile->tapes[l], &tile->outputs[l]);
  Observe(task, first, chunk->y, tile->outputs[top], &tile->d_outputs[top], sums);
  if (task.want == Want::kValue) return;
  for (Index l = top; l >= 1; --l)
    network.Backward(l, tile->d_outputs[l], &tile->tapes[l], sums, &tile->d_outputs[l - 1]);
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
    TileUpAndDown(task, first, whole ? &chunk->whole : &chunk->last, chunk, sums);
  }
  if (task.want == Want::kGradient)
    task.network.Backward(0, chunk->d_hidden, &chunk->tape, sums, nullptr);
}

}  // namespace

const Network::Sums& SumLogZ(const Network& network, double alpha, const Moments& x,
                             const Matrix& y, std::span<const Index> rows, Want want,
                             const ThreadPool& pool, LogZWorkspace* workspace) {
  const DeepGp& model = network.model();
  FATHOM_CHECK(y.cols() == model.likelihood->NumTargets(model.outputs()) &&
               x.cols() == model.input_dim());
  const Index chunk_rows = network.uncertain_inputs() ? kTileRows : kChunkRows;
  const auto count = static_cast<Index>(rows.size());
  const Index chunks = (count + chunk_rows - 1) / chunk_rows;
  // Each slot sums every slots-th chunk. Their number depends on the rows and the model alone; more
  // slots would let more threads work but cost more memory traffic to clear and add.
  constexpr Index kMaxSlots = 32;
  constexpr Index kMaxBytes = Index{256} << 20;
  const Index by_memory = std::max<Index>(1, kMaxBytes / network.SumsBytes());
  const Index slots = std::clamp<Index>(count / kChunkRows, 1, std::min(kMaxSlots, by_memory));
  if (static_cast<Index>(workspace->sums.size()) < slots) workspace->sums.resize(slots);
  workspace->workers.resize(pool.size());
  for (LogZWorkspace::Scratch& scratch : workspace->workers) {
    Reserve(network, std::min(count, chunk_rows), y.cols(), &scratch.whole);
    if (count > chunk_rows) Reserve(network, count % chunk_rows, y.cols(), &scratch.last);
  }
  const Task task{network, alpha, x, y, want};
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
  for (Index slot = 1; slot < slots; ++slot) workspace->sums[0].Add(workspace->sums[slot]);
  return workspace->sums[0];
}

}  // namespace fathom
