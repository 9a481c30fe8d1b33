#include "fathom/ensemble/scaled_table.h"

#include <algorithm>
#include <limits>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "fathom/neighbour/search.h"
#include "fathom/train/start.h"

namespace fathom {

ScaledTable ScaleTable(const Dataset& dataset, const Recipe& recipe) {
  constexpr Index kFolds = 5;
  ScaledTable table;
  const Index N = dataset.rows();
  const bool classes = !dataset.schema().classes.empty();
  if (classes) {
    const Index T = dataset.targets().cols();
    table.target_scaler = {Vector::Zero(T), Vector::Ones(T), Vector::Ones(T)};
  } else {
    table.target_scaler = FitScaler(dataset.targets(), dataset.weights());
  }
  table.y = StandardizeTargets(table.target_scaler, dataset.targets());
  table.x = FitInputs(dataset, classes ? Matrix(N, 0) : table.y, recipe, &table.input_scaler);
  table.weights = dataset.weights();
  // Gaps must have a place among numbers.
  constexpr double kNowhere = std::numeric_limits<double>::max();
  table.copies = FindCopies(table.x, table.y.array().isNaN().select(kNowhere, table.y));
  Vector groups(N);
  for (Index n = 0; n < N; ++n)
    groups[n] = static_cast<double>(table.copies[n] >= 0 ? table.copies[n] : n);
  std::vector<double> distinct(groups.begin(), groups.end());
  std::sort(distinct.begin(), distinct.end());
  const Index different = std::unique(distinct.begin(), distinct.end()) - distinct.begin();
  if (different < 2) throw NumericalError("all rows are copies of one row");
  RandomStream stream(recipe.seed, 5);
  table.folds = GroupedFolds(groups, std::min(kFolds, different), &stream);
  table.fold_of_row.resize(static_cast<std::size_t>(N));
  for (std::size_t f = 0; f < table.folds.size(); ++f) {
    for (const Index n : table.folds[f].held_out)
      table.fold_of_row[n] = static_cast<std::int32_t>(f);
  }
  return table;
}

ScaledTable RowsOf(const ScaledTable& table, const std::vector<Index>& rows) {
  ScaledTable part;
  part.input_scaler = table.input_scaler;
  part.target_scaler = table.target_scaler;
  part.x = {table.x.mean(rows, Eigen::all), table.x.var(rows, Eigen::all)};
  part.y = table.y(rows, Eigen::all);
  if (table.weights.size() > 0) part.weights = table.weights(rows);
  if (table.cell.rows() > 0) part.cell = table.cell(rows, Eigen::all);
  return part;
}

void AddCells(const TargetShape& shape, const Vector& observed, ScaledTable* table) {
  const double unit = table->target_scaler.scale[0];
  table->cell.resize(table->rows(), 2);
  for (Index n = 0; n < table->rows(); ++n) {
    const double z = shape.warp.Forward(observed[n]);
    const auto [low, high] = shape.CellOf(observed[n]);
    table->cell.row(n) << (low - z) / unit, (high - z) / unit;
  }
}

}  // namespace fathom
