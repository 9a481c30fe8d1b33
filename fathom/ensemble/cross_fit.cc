#include "fathom/ensemble/cross_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fathom/fitted/predictor.h"

namespace fathom {

CrossFit::CrossFit(const Dataset& dataset, const ScaledTable& table, Recipe recipe)
    : dataset_(dataset), table_(table), recipe_(std::move(recipe)) {
  if (dataset.schema().classes.empty()) {
    left_out_ = Moments(table.rows(), table.targets());
    cell_variance_ = Matrix(table.rows(), table.targets());
  } else {
    log_probability_ = Vector(table.rows());
  }
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
  const Prediction prediction = predictor.Predict(held_out.inputs());
  const Vector unit = table_.target_scaler.scale.cwiseAbs2().cwiseInverse();
  left_out_.mean(rows, Eigen::all) = StandardizeTargets(table_.target_scaler, prediction.Mean());
  left_out_.var(rows, Eigen::all) = Matrix(prediction.Variance() * unit.asDiagonal());
  cell_variance_(rows, Eigen::all) =
      Matrix(predictor.VarianceFromCells(held_out.inputs()) * unit.asDiagonal());
}

}  // namespace fathom
