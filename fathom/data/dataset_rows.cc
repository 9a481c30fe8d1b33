#include "fathom/data/dataset_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/data/column_facts.h"
#include "fathom/data/fingerprint.h"
#include "fathom/data/join_facts.h"
#include "fathom/data/roles_message.h"
#include "fathom/data/row_choice.h"
#include "fathom/data/row_picker.h"
#include "fathom/distributed/orders.h"

namespace fathom {

namespace {

Dataset WithoutRows(const DatasetParts& all) {
  DatasetParts parts;
  parts.source = all.source;
  parts.schema = all.schema;
  parts.inputs = Moments(0, all.schema.width());
  parts.targets = Matrix(0, std::ssize(all.schema.targets));
  parts.dropped_rows = all.dropped_rows;
  parts.notes = all.notes;
  return Dataset(std::move(parts));
}

// What rank 0 asks the others for.
enum class Question : std::int64_t { kStatistics, kFingerprint, kRows };

void Ask(Question question, const Communicator& ranks) {
  GiveOrder(Order::kRows, ranks);
  ranks.Broadcast(std::span(&question, 1));
}

TableSurvey Survey(const PackedTable& table) {
  TableSurvey survey(table.head());
  DoOwnPart(table.ranks(), [&] {
    table.ForEachBlock([&](Index first, const Matrix& rows) {
      survey.Add(table.head(), table.first() + first, rows);
    });
  });
  JoinFacts(table.ranks(), &survey);
  return survey;
}

bool SameInAllRows(const PackedTable& table, Index a, Index b) {
  bool same = true;
  DoOwnPart(table.ranks(), [&] {
    table.ForEachBlock([&](Index, const Matrix& rows) { same = same && SameCells(rows, a, b); });
  });
  return table.ranks().Largest(same ? 0 : 1) == 0;
}

}  // namespace

const Communicator& DatasetRows::ranks() const { return Alone(); }

RowsInMemory::RowsInMemory(const Dataset& dataset)
    : dataset_(dataset), head_(WithoutRows(dataset.parts())) {}

const RowStatistics& RowsInMemory::statistics() const {
  std::call_once(collected_, [&] {
    statistics_ = CollectStatistics({.head = head_,
                                     .rows = rows(),
                                     .for_each_block = [&](const auto& visit) { visit(dataset_); }},
                                    Alone());
  });
  return *statistics_;
}

std::string RowsInMemory::fingerprint() const { return HashRows(*this); }

struct RowsOnDisk::State {
  PackedTable table;
  std::optional<TableSurvey> survey = {};
  Schema schema = {};
  std::optional<InputRows> reader = {};  // refers to the others
  RowChoice kept = {};                   // of the rows that are here
  std::vector<Index> firsts = {};        // [ranks + 1], of the kept rows
  std::optional<Dataset> head = {};
  bool certain = false;
  Index weight_place = -1;
  double largest_weight = 1, mean_weight = 1;  // the mean is that of weight / largest
  std::once_flag collected = {};
  std::optional<RowStatistics> statistics = {};

  Index first() const { return firsts[static_cast<std::size_t>(table.ranks().rank())]; }
};

RowsOnDisk::RowsOnDisk(PackedTable table, Unmade /*tag*/)
    : state_(new State{.table = std::move(table)}) {}

RowsOnDisk::RowsOnDisk(PackedTable table, const Roles& roles, const InputStd& std)
    : RowsOnDisk(std::move(table), Unmade{}) {
  GiveOrder(Order::kHold, ranks());
  std::string message = internal::RolesMessage(roles, std);
  ranks().Broadcast(&message);
  MakeHead(roles, std);
}

std::unique_ptr<RowsOnDisk> RowsOnDisk::Hold(PackedTable table) {
  std::string message;
  table.ranks().Broadcast(&message);
  Roles roles;
  InputStd std;
  internal::ReadRolesMessage(message, &roles, &std);
  std::unique_ptr<RowsOnDisk> rows(new RowsOnDisk(std::move(table), Unmade{}));
  try {
    rows->MakeHead(roles, std);
  } catch (const Error&) {
    if (rows->ranks().left()) throw;  // what only this rank knows
    return nullptr;
  }
  return rows;
}

// All ranks do the same with facts of all rows, so that they agree.
void RowsOnDisk::MakeHead(const Roles& roles, const InputStd& std) {
  State& state = *state_;
  const Table& head = state.table.head();
  state.survey = Survey(state.table);
  DatasetParts parts;
  state.schema = MakeSchema(
      head, *state.survey, [&](Index a, Index b) { return SameInAllRows(state.table, a, b); },
      roles, &parts.notes);
  state.reader.emplace(head, *state.survey, state.schema, std);
  state.certain =
      std.columns.empty() && std::ranges::all_of(state.schema.inputs, [&](const auto& input) {
        const auto place = static_cast<std::size_t>(FindColumn(head, input.name));
        return state.survey->columns[place].known == state.survey->rows;
      });
  PickRows(&parts.notes);
  parts.dropped_rows = state.table.all_rows() - rows();
  parts.source = head.source;
  parts.schema = state.schema;
  state.head = WithoutRows(parts);
  if (state.weight_place >= 0 && !state.schema.weights_are_counts) FindMeanWeight();
}

void RowsOnDisk::PickRows(std::vector<Note>* notes) {
  State& state = *state_;
  const Table& head = state.table.head();
  RowPicker picker(head, state.schema, state.reader->target_places(), state.table.first());
  DoOwnPart(ranks(), [&] {
    state.table.ForEachBlock([&](Index, const Matrix& rows) {
      for (Index n = 0; n < rows.rows(); ++n) state.kept.Add(picker.Keep(rows.row(n).data()));
    });
  });
  state.firsts = {0};
  for (const std::string& kept : ranks().Gather(std::to_string(state.kept.size())))
    state.firsts.push_back(state.firsts.back() + std::stoll(kept));
  state.firsts.resize(static_cast<std::size_t>(ranks().size()) + 1);
  ranks().Broadcast(std::span(state.firsts));
  JoinFacts(ranks(), &picker);
  picker.Finish(notes);
  if (state.schema.weights.empty()) return;
  state.weight_place = FindColumn(head, state.schema.weights);
  if (!state.schema.weights_are_counts) state.largest_weight = picker.largest_weight();
}

void RowsOnDisk::FindMeanWeight() {
  auto bits = std::bit_cast<std::uint64_t>(0.0);
  InTurn(ranks(), &bits, [&] {
    DoOwnPart(ranks(), [&] {
      auto sum = std::bit_cast<double>(bits);
      ForEachBlock([&](const Dataset& rows) {
        for (const double weight : rows.weights()) sum += weight;
      });
      bits = std::bit_cast<std::uint64_t>(sum);
    });
  });
  state_->mean_weight = std::bit_cast<double>(bits) / static_cast<double>(rows());
}

RowsOnDisk::~RowsOnDisk() = default;

void RowsOnDisk::AddNote(Note note) {
  DatasetParts parts = state_->head->parts();
  parts.notes.push_back(std::move(note));
  state_->head = Dataset(std::move(parts));
}

Index RowsOnDisk::rows() const { return state_->firsts.back(); }

const Communicator& RowsOnDisk::ranks() const { return state_->table.ranks(); }

bool RowsOnDisk::certain() const { return state_->certain; }

std::vector<Index> RowsOnDisk::firsts() const { return state_->firsts; }

const RowStatistics& RowsOnDisk::statistics() const {
  std::call_once(state_->collected, [&] {
    Ask(Question::kStatistics, ranks());
    state_->statistics = Collect();
  });
  return *state_->statistics;
}

RowStatistics RowsOnDisk::Collect() const {
  return CollectStatistics({.head = head(),
                            .rows = rows(),
                            .first = state_->first(),
                            .for_each_block = [&](const auto& visit) { ForEachBlock(visit); }},
                           ranks());
}

std::string RowsOnDisk::fingerprint() const {
  Ask(Question::kFingerprint, ranks());
  return HashRows(*this);
}

void RowsOnDisk::Help() const {
  auto question = Question::kRows;
  ranks().Broadcast(std::span(&question, 1));
  switch (question) {
    case Question::kStatistics:
      Collect();
      break;
    case Question::kFingerprint:
      HashRows(*this);
      break;
    case Question::kRows: {
      std::uint64_t count = 0;
      ranks().Broadcast(std::span(&count, 1));
      std::vector<Index> rows(count);
      ranks().Broadcast(std::span(rows));
      GatherRows(rows);
      break;
    }
  }
}

const Dataset& RowsOnDisk::head() const { return *state_->head; }

Dataset RowsOnDisk::Make(const Matrix& cells, std::vector<Index> table_rows) const {
  std::vector<Index> all(static_cast<std::size_t>(cells.rows()));
  std::iota(all.begin(), all.end(), Index{0});
  DatasetParts parts = state_->reader->Pick(cells, all);
  parts.table_rows = std::move(table_rows);
  if (state_->weight_place >= 0) {
    parts.weights = cells.col(state_->weight_place);
    if (!state_->schema.weights_are_counts) {
      parts.weights /= state_->largest_weight;
      parts.weights /= state_->mean_weight;
    }
  }
  return Dataset(std::move(parts));
}

Dataset RowsOnDisk::Read(std::span<const Index> rows) const {
  auto count = static_cast<std::uint64_t>(rows.size());
  std::vector<Index> asked(rows.begin(), rows.end());
  Ask(Question::kRows, ranks());
  ranks().Broadcast(std::span(&count, 1));
  ranks().Broadcast(std::span(asked));
  const Matrix cells = GatherRows(rows);
  std::vector<Index> table_rows;
  for (const double row : cells.rightCols<1>().reshaped())
    table_rows.push_back(static_cast<Index>(row));
  return Make(cells, std::move(table_rows));
}

Matrix RowsOnDisk::GatherRows(std::span<const Index> rows) const {
  const State& state = *state_;
  const auto owner_of = [&](Index row) {
    const auto next = std::upper_bound(state.firsts.begin() + 1, state.firsts.end() - 1, row);
    return static_cast<int>(next - state.firsts.begin()) - 1;
  };
  std::vector<Index> mine;  // rows of the table, as they are here
  std::vector<std::vector<Index>> places(static_cast<std::size_t>(ranks().size()));
  for (Index i = 0; i < std::ssize(rows); ++i) {
    FATHOM_CHECK(rows[i] >= 0 && rows[i] < this->rows());
    const int owner = owner_of(rows[i]);
    places[owner].push_back(i);
    if (owner == ranks().rank()) mine.push_back(state.kept.Find(rows[i] - state.first()));
  }
  const Index columns = std::ssize(state.table.head().columns) + 1;
  Matrix own(std::ssize(mine), columns);
  DoOwnPart(ranks(), [&] { own.leftCols(columns - 1) = state.table.Read(mine); });
  for (Index i = 0; i < own.rows(); ++i)
    own(i, columns - 1) = static_cast<double>(state.table.first() + mine[i]);
  Parcels out, in;
  out.Clear(ranks().size());
  in.Await(ranks().size());
  out.values.assign(own.data(), own.data() + own.size());
  out.counts[0] = own.size();
  if (ranks().rank() == 0) {
    for (std::size_t r = 0; r < places.size(); ++r) in.counts[r] = std::ssize(places[r]) * columns;
  }
  ranks().Exchange(out, &in);
  if (ranks().rank() != 0) return {};
  Matrix cells(std::ssize(rows), columns);
  const double* next = in.values.data();
  for (const std::vector<Index>& from_rank : places) {
    for (const Index place : from_rank) {
      std::copy_n(next, columns, cells.row(place).data());
      next += columns;
    }
  }
  return cells;
}

void RowsOnDisk::ForEachBlock(const std::function<void(const Dataset& rows)>& visit) const {
  Index next = 0;  // of the kept rows
  state_->table.ForEachBlock([&](Index first, const Matrix& rows) {
    std::vector<Index> table_rows, in_block;
    for (; next < state_->kept.size(); ++next) {
      const Index row = state_->kept.Find(next);
      if (row >= first + rows.rows()) break;
      table_rows.push_back(state_->table.first() + row);
      in_block.push_back(row - first);
    }
    if (in_block.empty()) return;
    const bool all = std::ssize(in_block) == rows.rows();
    visit(Make(all ? rows : Matrix(rows(in_block, Eigen::all)), std::move(table_rows)));
  });
}

Dataset ReadAll(const DatasetRows& rows) {
  FATHOM_CHECK(rows.ranks().size() == 1);
  DatasetParts all;
  all.source = rows.source();
  all.schema = rows.schema();
  all.notes = rows.head().notes();
  all.dropped_rows = rows.head().dropped_rows();
  all.inputs = Moments(rows.rows(), all.schema.width());
  all.targets.resize(rows.rows(), std::ssize(all.schema.targets));
  if (!all.schema.weights.empty()) all.weights.resize(rows.rows());
  Index next = 0;
  rows.ForEachBlock([&](const Dataset& block) {
    const Index count = block.rows();
    all.inputs.mean.middleRows(next, count) = block.inputs().mean;
    all.inputs.var.middleRows(next, count) = block.inputs().var;
    all.targets.middleRows(next, count) = block.targets();
    if (all.weights.size() > 0) all.weights.segment(next, count) = block.weights();
    const std::vector<Index>& table_rows = block.table_rows();
    all.table_rows.insert(all.table_rows.end(), table_rows.begin(), table_rows.end());
    next += count;
  });
  return Dataset(std::move(all));
}

}  // namespace fathom
