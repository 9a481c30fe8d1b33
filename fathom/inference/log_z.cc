#include "fathom/inference/log_z.h"

#include <algorithm>

#include "fathom/base/error.h"

namespace fathom {

namespace {

using Chunk = LogZWorkspace::Chunk;

void CopyRows(const Moments& from, Index begin, Index count, Moments* to) {
  to->mean = from.mean.middleRows(begin, count);
  to->var = from.var.middleRows(begin, count);
}

// log Z of `count` rows from `first` of the chunk's y, given the moments f of the last layer; its
// slopes go to d_f.
void Observe(const Network& network, double alpha, Index first, Index count, Chunk* chunk,
             const Moments& f, Moments* d_f) {
  const DeepGp& model = network.model();
  d_f->mean.resize(count, f.cols());
  d_f->var.resize(count, f.cols());
  for (Index n = 0; n < count; ++n) {
    const double weight = chunk->weights[first + n];
    chunk->d_likelihood.setZero(chunk->sums.likelihood.size());
    chunk->sums.log_z +=
        weight * model.likelihood->LogZ(model.likelihood_parameters, alpha, model.outputs(),
                                        chunk->y.row(first + n).data(), f.mean.row(n).data(),
                                        f.var.row(n).data(), d_f->mean.row(n).data(),
                                        d_f->var.row(n).data(), chunk->d_likelihood.data());
    d_f->mean.row(n) *= weight;
    d_f->var.row(n) *= weight;
    chunk->sums.likelihood += weight * chunk->d_likelihood;
  }
}

// Layers 1.. and the likelihood, up and down again, for rows first..first+count of the chunk.
void TileUpAndDown(const Network& network, double alpha, Index first, Index count, Chunk* chunk) {
  const Index layers = network.model().num_layers();
  CopyRows(chunk->x, first, count, &chunk->tile_x);
  CopyRows(chunk->hidden, first, count, &chunk->outputs[0]);
  for (Index l = 1; l < layers; ++l) {
    network.Forward(l, chunk->outputs[l - 1], chunk->tile_x, &chunk->tapes[l], &chunk->outputs[l]);
  }
  Observe(network, alpha, first, count, chunk, chunk->outputs[layers - 1],
          &chunk->d_outputs[layers - 1]);
  for (Index l = layers - 1; l >= 1; --l) {
    network.Backward(l, chunk->d_outputs[l], &chunk->tapes[l], &chunk->sums,
                     &chunk->d_outputs[l - 1]);
  }
  chunk->d_hidden.mean.middleRows(first, count) = chunk->d_outputs[0].mean;
  chunk->d_hidden.var.middleRows(first, count) = chunk->d_outputs[0].var;
}

void ChunkUpAndDown(const Network& network, double alpha, const Moments& x, const Matrix& y,
                    const Vector& weights, std::span<const Index> rows, Chunk* chunk) {
  const auto count = static_cast<Index>(rows.size());
  chunk->x.mean.resize(count, x.cols());
  chunk->x.var.resize(count, x.cols());
  chunk->y.resize(count, y.cols());
  chunk->weights.resize(count);
  for (Index n = 0; n < count; ++n) {
    chunk->x.mean.row(n) = x.mean.row(rows[n]);
    chunk->x.var.row(n) = x.var.row(rows[n]);
    chunk->y.row(n) = y.row(rows[n]);
    chunk->weights[n] = weights.size() == 0 ? 1 : weights[rows[n]];
  }
  network.Forward(0, chunk->x, chunk->x, &chunk->tapes[0], &chunk->hidden);
  chunk->d_hidden.mean.resize(count, chunk->hidden.cols());
  chunk->d_hidden.var.resize(count, chunk->hidden.cols());
  for (Index first = 0; first < count; first += kTileRows) {
    TileUpAndDown(network, alpha, first, std::min(kTileRows, count - first), chunk);
  }
  network.Backward(0, chunk->d_hidden, &chunk->tapes[0], &chunk->sums, nullptr);
}

}  // namespace

const Network::Sums& SumLogZ(const Network& network, double alpha, const Moments& x,
                             const Matrix& y, const Vector& weights, std::span<const Index> rows,
                             bool uncertain_inputs, const ThreadPool& pool,
                             LogZWorkspace* workspace) {
  const DeepGp& model = network.model();
  FATHOM_CHECK(y.cols() == model.likelihood->NumTargets(model.outputs()) &&
               x.cols() == model.input_dim());
  const Index chunk_rows = uncertain_inputs ? kTileRows : kChunkRows;
  const auto count = static_cast<Index>(rows.size());
  const Index chunks = (count + chunk_rows - 1) / chunk_rows;
  // Each slot sums every slots-th chunk. Their number depends on the rows and the model alone; more slots would let more
  // threads work but cost more memory traffic to clear and add.
  constexpr Index kMaxSlots = 32;
  constexpr Index kMaxBytes = Index{256} << 20;
  const Index by_memory = std::max<Index>(1, kMaxBytes / network.SumsBytes());
  const Index slots = std::clamp<Index>(count / kChunkRows, 1, std::min(kMaxSlots, by_memory));
  const auto layers = static_cast<std::size_t>(network.model().num_layers());
  if (static_cast<Index>(workspace->slots.size()) < slots) workspace->slots.resize(slots);
  pool.Run(slots, [&](Index slot) {
    Chunk& chunk = workspace->slots[slot];
    chunk.tapes.resize(layers);
    chunk.outputs.resize(layers);
    chunk.d_outputs.resize(layers);
    network.ResetSums(&chunk.sums);
    for (Index c = slot; c < chunks; c += slots) {
      const Index begin = c * chunk_rows;
      ChunkUpAndDown(network, alpha, x, y, weights,
                     rows.subspan(begin, std::min(chunk_rows, count - begin)), &chunk);
    }
  });
  for (Index slot = 1; slot < slots; ++slot)
    workspace->slots[0].sums.Add(workspace->slots[slot].sums);
  return workspace->slots[0].sums;
}

}  // namespace fathom
