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
  const TableRows& table;
  Want want;
  Moments* d_inputs;
};

Index ChunkRows(const Network& network) {
  return network.options().uncertain || network.options().joint ? kTileRows : kChunkRows;
}

Index TileRows(Index paths) {
  return paths == 0 ? kTileRows : std::max<Index>(1, kTilePaths / paths);
}

void Reserve(const Network& network, Index rows, Index paths, Tile* tile) {
  tile->pass.Reserve(network, {1, network.model().num_layers()}, rows, paths);
  tile->targets.Reserve(network.model(), paths);
}

void Reserve(const Network& network, Index rows, Index paths, Chunk* chunk) {
  chunk->first.Reserve(network, {0, 1}, rows, 0);
  const Index tile_rows = TileRows(paths);
  Reserve(network, std::min(rows, tile_rows), paths, &chunk->whole);
  if (rows > tile_rows) Reserve(network, rows % tile_rows, paths, &chunk->last);
}

// Rows of a chunk to those of a tile, and back.
void CopyRows(const Handed& from, bool joint, Index begin, Handed* to) {
  const Index count = to->moments.rows();
  to->moments.mean = from.moments.mean.middleRows(begin, count);
  to->moments.var = from.moments.var.middleRows(begin, count);
  if (!joint) return;
  to->joint.mean = from.joint.mean.middleRows(begin, count);
  to->joint.cov.assign(from.joint.cov.begin() + begin, from.joint.cov.begin() + begin + count);
}

void PutRows(const Handed& from, bool joint, Index begin, Handed* to) {
  if (joint) {
    const Index rows = to->moments.rows();
    if (to->joint.rows() != rows) to->joint.SetZero(rows, from.joint.cols());
    to->joint.mean.middleRows(begin, from.joint.rows()) = from.joint.mean;
    std::copy(from.joint.cov.begin(), from.joint.cov.end(), to->joint.cov.begin() + begin);
    return;
  }
  to->moments.mean.middleRows(begin, from.moments.rows()) = from.moments.mean;
  to->moments.var.middleRows(begin, from.moments.rows()) = from.moments.var;
}

void CopyInputs(const Moments& x, std::span<const Index> places, Moments* out) {
  for (std::size_t n = 0; n < places.size(); ++n) {
    out->mean.row(static_cast<Index>(n)) = x.mean.row(places[n]);
    out->var.row(static_cast<Index>(n)) = x.var.row(places[n]);
  }
}

// The layers above the first and the likelihood, up and down again, for the tile that
// begins at row `first` of the chunk and at row `batch_row` of the batch.
void TileUpAndDown(const Task& task, Index first, Index batch_row, Tile* tile, Chunk* chunk,
                   Sums* sums) {
  Pass& pass = tile->pass;
  const auto rows = task.table.rows.subspan(batch_row, pass.rows());
  const auto places = task.table.places.subspan(batch_row, pass.rows());
  const bool joint = task.network.options().joint;
  CopyRows(chunk->first.top(), joint, first, &pass.entered());
  if (pass.NeedsRaw()) CopyInputs(task.table.x, places, &pass.raw());
  pass.Up(task.network, task.options.paths, rows);
  for (Index n = 0; n < pass.rows(); ++n) {
    const Vector& weights = task.table.weights;
    tile->targets.Meet(
        task.network, task.options,
        {n, task.table.y.row(places[n]).data(), weights.size() == 0 ? 1 : weights[places[n]]},
        &pass, sums);
  }
  if (task.want == Want::kValue) return;
  pass.Down(task.network, {.entered = true, .raw = task.want == Want::kInputs}, sums);
  PutRows(pass.d_entered(), joint, first, &chunk->first.d_top());
  if (task.want != Want::kInputs || !pass.NeedsRaw()) return;
  task.d_inputs->mean.middleRows(batch_row, pass.rows()) = pass.d_raw().mean;
  task.d_inputs->var.middleRows(batch_row, pass.rows()) = pass.d_raw().var;
}

void ChunkUpAndDown(const Task& task, Index batch_row, Chunk* chunk, Sums* sums) {
  Pass& first = chunk->first;
  const Index count = first.rows();
  CopyInputs(task.table.x, task.table.places.subspan(batch_row, count), &first.raw());
  first.Up(task.network, {}, task.table.rows.subspan(batch_row, count));
  for (Index begin = 0; begin < count; begin += chunk->whole.pass.rows()) {
    const bool whole = count - begin >= chunk->whole.pass.rows();
    TileUpAndDown(task, begin, batch_row + begin, whole ? &chunk->whole : &chunk->last, chunk,
                  sums);
  }
  if (task.want == Want::kValue) return;
  first.Down(task.network, {.entered = task.want == Want::kInputs}, sums);
  if (task.want != Want::kInputs) return;
  task.d_inputs->mean.middleRows(batch_row, count) += first.d_entered().moments.mean;
  task.d_inputs->var.middleRows(batch_row, count) += first.d_entered().moments.var;
}

// Each slot sums every slots-th chunk. Their number depends on the rows and the model alone; more
// slots would let more threads work but cost more memory traffic to clear and add: 8 % of a step of
// 1024 rows with 16 of them, M = 100. With covariances a row costs so much that a slot pays for
// few.
Index NumSlots(const Network& network, Index rows) {
  if (network.options().joint) return std::clamp<Index>((rows + kTileRows - 1) / kTileRows, 1, 16);
  constexpr Index kMaxBytes = Index{256} << 20;
  const Index most = std::clamp<Index>(rows / 256, 8, 1024);
  const Index by_memory = std::max<Index>(1, kMaxBytes / network.SumsBytes());
  return std::clamp<Index>(rows / kChunkRows, 1, std::min(most, by_memory));
}

// The sums of some of the slots.
void SumSlots(const Task& task, const SlotPlan& plan, SlotRange slots, const ThreadPool& pool,
              LogZWorkspace* workspace) {
  const Network& network = task.network;
  workspace->workers.resize(pool.size());
  const Index paths = task.options.paths.samples;
  for (LogZWorkspace::Scratch& scratch : workspace->workers) {
    Reserve(network, std::min(plan.rows, plan.chunk_rows), paths, &scratch.whole);
    if (plan.rows > plan.chunk_rows)
      Reserve(network, plan.rows % plan.chunk_rows, paths, &scratch.last);
  }
  pool.Run(slots.end - slots.begin, [&](Index i, int worker) {
    const Index slot = slots.begin + i;
    LogZWorkspace::Scratch& scratch = workspace->workers[worker];
    Sums& sums = workspace->sums[slot];
    network.ResetSums(&sums);
    for (Index c = slot; c < plan.chunks(); c += plan.slots) {
      const Index begin = c * plan.chunk_rows;
      const bool whole = plan.rows - begin >= scratch.whole.first.rows();
      ChunkUpAndDown(task, begin, whole ? &scratch.whole : &scratch.last, &sums);
    }
  });
}

}  // namespace

SlotPlan PlanSlots(const Network& network, Index rows) {
  return {rows, ChunkRows(network), NumSlots(network, rows)};
}

const Sums& SumLogZ(const Network& network, const LogZOptions& options, const TableRows& table,
                    Want want, const Workers& workers, LogZWorkspace* workspace) {
  const ThreadPool& pool = workers.pool;
  const FunctionShares& shares = workers.shares;
  const Communicator& ranks = shares.ranks();
  const DeepGp& model = network.model();
  FATHOM_CHECK(table.y.cols() == model.likelihood->NumTargets(model.outputs()) &&
               table.x.cols() == model.input_dim() && table.places.size() == table.rows.size());
  FATHOM_CHECK(want != Want::kInputs || ranks.size() == 1);
  const SlotPlan plan = PlanSlots(network, static_cast<Index>(table.rows.size()));
  const SlotRange mine = SlotsOfRank(plan.slots, ranks.rank(), ranks.size());
  if (static_cast<Index>(workspace->sums.size()) < plan.slots) workspace->sums.resize(plan.slots);
  if (want == Want::kInputs) workspace->d_inputs.SetZero(plan.rows, model.input_dim());
  if (!mine.Holds(Index{0})) network.ResetSums(&workspace->sums[0]);  // for its layout
  const Task task{network, options, table, want, &workspace->d_inputs};
  DoTogether(ranks, [&] { SumSlots(task, plan, mine, pool, workspace); });
  Sums& sum = workspace->sums[0];
  Sections sections;  // none alone, so that a step allocates nothing
  if (shares.shared()) {
    sections = shares.SectionsOf(sum.layout);
  } else if (ranks.size() > 1) {
    sections = EqualSections(sum.layout.size, ranks.size());
  }
  AddInTree({workspace->sums.data(), static_cast<std::size_t>(plan.slots)}, sections, ranks, pool,
            &workspace->tree);
  if (!shares.shared()) GatherSections(sections, ranks, &sum, &workspace->tree);
  return sum;
}

}  // namespace fathom
