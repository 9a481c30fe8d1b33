#include "fathom/ensemble/tree_candidate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fathom/fitted/trees_expert.h"

namespace fathom {

namespace {

// Left-out rows choose among so many trees and its multiples.
constexpr Index kStage = 25;

// [stages]: the squared errors of the rows whose target is known.
Vector SquaredErrors(const Vector& y, const Matrix& stages, const Vector& weights) {
  Vector sums = Vector::Zero(stages.cols());
  for (Index n = 0; n < y.size(); ++n) {
    if (std::isnan(y[n])) continue;
    const double weight = weights.size() > 0 ? weights[n] : 1;
    sums.array() += weight * (stages.row(n).transpose().array() - y[n]).square();
  }
  return sums;
}

}  // namespace

bool TreeCandidate::CanLearn(const ScaledTable& table) {
  constexpr Index kTooFew = 400;
  return table.rows() > kTooFew && (table.x.var.array() == 0).all();
}

TreeCandidate::TreeCandidate(const ScaledTable& table, std::uint64_t seed, const ThreadPool& pool)
    : inputs_(table.x.cols()),
      trees_(static_cast<std::size_t>(table.targets())),
      noise_(table.targets()),
      left_out_(table.rows(), table.targets()) {
  for (Index t = 0; t < table.targets(); ++t) FitTarget(table, t, seed, pool);
}

void TreeCandidate::FitTarget(const ScaledTable& table, Index target, std::uint64_t seed,
                              const ThreadPool& pool) {
  TreeFit fit{.seed = seed};
  // The order of the cells is all that trees see, and a curve does not change it.
  fit.columns = table.x.cols() - table.input_scaler.warps.size();
  const auto folds = static_cast<Index>(table.folds.size());
  const Vector y = table.y.col(target);
  Matrix stages(table.rows(), fit.rounds / kStage);
  BoostedTrees& of_all = trees_[static_cast<std::size_t>(target)];
  pool.Run(folds + 1, [&](Index job) {
    if (job == folds) {
      of_all = FitBoostedTrees(table.x.mean, y, table.weights, fit);
      return;
    }
    const Split& fold = table.folds[static_cast<std::size_t>(job)];
    const Vector weights = table.weights.size() > 0 ? Vector(table.weights(fold.train)) : Vector();
    const BoostedTrees trees =
        FitBoostedTrees(table.x.mean(fold.train, Eigen::all), y(fold.train), weights, fit);
    const Matrix said = PredictInStages(trees, table.x.mean(fold.held_out, Eigen::all), kStage);
    stages(fold.held_out, Eigen::all) = said;
  });
  const Vector errors = SquaredErrors(y, stages, table.weights);
  Index best = 0;
  const double least = errors.minCoeff(&best);
  KeepTrees((best + 1) * kStage, &of_all);
  double rows = 0;
  for (Index n = 0; n < y.size(); ++n) {
    if (!std::isnan(y[n])) rows += table.weights.size() > 0 ? table.weights[n] : 1;
  }
  // Trees do not know where their errors are large. If they claimed the same variance for all rows,
  // they would blur what the other members know of that. So they claim hardly any, and leave it to
  // the calibration to make the whole wide enough.
  constexpr double kClaimed = 0.01, kLeastNoise = 1e-12;
  noise_[target] = std::max(kLeastNoise, kClaimed * least / rows);
  left_out_.mean.col(target) = stages.col(best);
  left_out_.var.col(target).setConstant(noise_[target]);
}

std::shared_ptr<const Expert> TreeCandidate::MakeExpert() const {
  return std::make_shared<TreesExpert>(trees_, noise_, inputs_);
}

}  // namespace fathom
