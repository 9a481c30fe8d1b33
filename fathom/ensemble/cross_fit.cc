#include "fathom/ensemble/cross_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "fathom/fitted/predictor.h"

namespace fathom {

namespace {

std::vector<std::size_t> FirstNumbers(std::size_t count) {
  std::vector<std::size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace

CrossFit::CrossFit(const Dataset& dataset, const ScaledTable& table, Recipe recipe)
    : CrossFit(dataset, table, std::move(recipe), FirstNumbers(table.folds.size())) {}

CrossFit::CrossFit(const Dataset& dataset, const ScaledTable& table, Recipe recipe,
                   std::vector<std::size_t> folds)
    : dataset_(dataset), table_(table), recipe_(std::move(recipe)), folds_(std::move(folds)) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  if (dataset.schema().classes.empty()) {
    const Matrix unknown = Matrix::Constant(table.rows(), table.targets(), kUnknown);
    left_out_ = {unknown, unknown};
    cell_variance_ = unknown;
  } else {
    log_probability_ = Vector::Constant(table.rows(), kUnknown);
  }
}

std::vector<Index> CrossFit::RowsDone() const {
  std::vector<Index> rows;
  for (std::size_t k = 0; k < networks_.size(); ++k) {
    const std::vector<Index>& fold = table_.folds[folds_[k]].held_out;
    rows.insert(rows.end(), fold.begin(), fold.end());
  }
  return rows;
}

void CrossFit::Add(Member network) {
  const std::vector<Index>& rows = table_.folds[next_fold()].held_out;
  const Dataset held_out = Subset(dataset_, rows);
  network.weight = 1;
  ModelParts alone;
  alone.schema = dataset_.schema();
  alone.members.push_back(network);
  const ModelPredictor predictor(Model(std::move(alone)), recipe_.threads);
  networks_.push_back(std::move(network));
  if (!dataset_.schema().classes.empty()) {
    constexpr double kLeast = 1e-12;
    const Matrix probability = predictor.ClassProbabilities(held_out.inputs());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto label = static_cast<Index>(held_out.targets()(static_cast<Index>(i), 0));
      log_probability_[rows[i]] =
          std::log(std::max(probability(static_cast<Index>(i), label), kLeast));
    }
    return;
  }
  const Moments predicted = predictor.Predict(held_out.inputs()).MixtureMoments();
  const Vector unit = table_.target_scaler.scale.cwiseAbs2().cwiseInverse();
  left_out_.mean(rows, Eigen::all) = StandardizeTargets(table_.target_scaler, predicted.mean);
  left_out_.var(rows, Eigen::all) = Matrix(predicted.var * unit.asDiagonal());
  cell_variance_(rows, Eigen::all) =
      Matrix(predictor.VarianceFromCells(held_out.inputs()) * unit.asDiagonal());
}

}  // namespace fathom
