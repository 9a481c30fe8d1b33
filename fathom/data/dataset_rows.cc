#include "fathom/data/dataset_rows.h"

#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/data/column_facts.h"
#include "fathom/data/row_choice.h"
#include "fathom/data/row_picker.h"

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

TableSurvey Survey(const PackedTable& table) {
  TableSurvey survey(table.head());
  table.ForEachBlock([&](Index, const Matrix& rows) { survey.Add(table.head(), rows); });
  return survey;
}

bool SameInAllRows(const PackedTable& table, Index a, Index b) {
  bool same = true;
  table.ForEachBlock([&](Index, const Matrix& rows) { same = same && SameCells(rows, a, b); });
  return same;
}

}  // namespace

RowsInMemory::RowsInMemory(const Dataset& dataset)
    : dataset_(dataset), head_(WithoutRows(dataset.parts())) {}

struct RowsOnDisk::State {
  PackedTable table;
  TableSurvey survey;
  Schema schema = {};
  std::optional<InputRows> reader = {};  // refers to the others
  RowChoice kept = {};
  std::optional<Dataset> head = {};
  Index weight_place = -1;
  double largest_weight = 1, mean_weight = 1;  // the mean is that of weight / largest
};

RowsOnDisk::RowsOnDisk(PackedTable table, const Roles& roles, const InputStd& std)
    : state_(std::make_unique<State>(State{.table = table, .survey = Survey(table)})) {
  State& state = *state_;
  const Table& head = state.table.head();
  DatasetParts parts;
  state.schema = MakeSchema(
      head, state.survey, [&](Index a, Index b) { return SameInAllRows(table, a, b); }, roles,
      &parts.notes);
  state.reader.emplace(head, state.survey, state.schema, std);
  RowPicker picker(head, state.schema, state.reader->target_places());
  state.table.ForEachBlock([&](Index, const Matrix& rows) {
    for (Index n = 0; n < rows.rows(); ++n) state.kept.Add(picker.Keep(rows.row(n).data()));
  });
  picker.Finish(&parts.notes);
  parts.dropped_rows = picker.seen() - picker.kept();
  parts.source = head.source;
  parts.schema = state.schema;
  if (!state.schema.weights.empty()) {
    state.weight_place = FindColumn(head, state.schema.weights);
    if (!state.schema.weights_are_counts) {
      state.largest_weight = picker.largest_weight();
      double sum = 0;
      ForEachBlock([&](const Dataset& rows) {
        for (const double weight : rows.weights()) sum += weight;
      });
      state.mean_weight = sum / static_cast<double>(this->rows());
    }
  }
  state.head = WithoutRows(parts);
}

RowsOnDisk::~RowsOnDisk() = default;

void RowsOnDisk::AddNote(Note note) {
  DatasetParts parts = state_->head->parts();
  parts.notes.push_back(std::move(note));
  state_->head = Dataset(std::move(parts));
}

Index RowsOnDisk::rows() const { return state_->kept.size(); }

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
  std::vector<Index> table_rows;
  for (const Index row : rows) table_rows.push_back(state_->kept.Find(row));
  const Matrix cells = state_->table.Read(table_rows);
  return Make(cells, std::move(table_rows));
}

void RowsOnDisk::ForEachBlock(const std::function<void(const Dataset& rows)>& visit) const {
  Index next = 0;  // of the kept rows
  state_->table.ForEachBlock([&](Index first, const Matrix& rows) {
    std::vector<Index> table_rows, in_block;
    for (; next < state_->kept.size(); ++next) {
      const Index row = state_->kept.Find(next);
      if (row >= first + rows.rows()) break;
      table_rows.push_back(row);
      in_block.push_back(row - first);
    }
    if (in_block.empty()) return;
    const bool all = std::ssize(in_block) == rows.rows();
    visit(Make(all ? rows : Matrix(rows(in_block, Eigen::all)), std::move(table_rows)));
  });
}

Dataset ReadAll(const DatasetRows& rows) {
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
