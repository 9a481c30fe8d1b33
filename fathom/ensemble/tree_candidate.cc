#include "fathom/ensemble/tree_candidate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fathom/fitted/trees_expert.h"

namespace fathom {

namespace {

// Left-out rows choose among so many trees and its multiples.
constexpr Index kStage = 25;
// Deep trees find rows that are nearly copies, and jumps that are small (docs/measurements/
// decisions.md).
constexpr int kDeep = 14;
constexpr double kDeepRate = 0.08;

Vector CountsOf(const Vector& weights, const std::vector<Index>& rows) {
  return weights.size() > 0 ? Vector(weights(rows)) : Vector();
}

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
  constexpr Index kTooFew = 50;
  if (table.rows() <= kTooFew) return false;
  const auto known_or_missing = [&](Index n, Index c) {
    return table.x.var(n, c) == 0 || IsMissing(table.x.mean(n, c), table.x.var(n, c));
  };
  for (Index n = 0; n < table.rows(); ++n) {
    for (Index c = 0; c < table.x.cols(); ++c) {
      if (!known_or_missing(n, c)) return false;
    }
  }
  return true;
}

TreeCandidate::TreeCandidate(const ScaledTable& table, const Options& options,
                             const ThreadPool& pool)
    : options_(options),
      inputs_(table.x.cols()),
      trees_(static_cast<std::size_t>(table.targets())),
      noise_(table.targets()),
      left_out_(table.rows(), table.targets()) {
  for (Index t = 0; t < table.targets(); ++t) FitTarget(table, t, pool);
}

void TreeCandidate::FitTarget(const ScaledTable& table, Index target, const ThreadPool& pool) {
  // The order of the cells is all that trees see, and a curve does not change it.
  const Index columns = table.x.cols() - table.input_scaler.warps.size();
  const TreeFit shallow{.bags = options_.bags, .columns = columns, .seed = options_.seed};
  TreeFit deep = shallow;
  deep.depth = kDeep;
  deep.rate = kDeepRate;
  const TreeFit tried[] = {shallow, deep};
  const auto folds = static_cast<Index>(table.folds.size());
  const Vector y = table.y.col(target);
  // [held-out rows, stages]
  const auto without = [&](Index number, const TreeFit& fit) {
    const Split& fold = table.folds[static_cast<std::size_t>(number)];
    const BoostedTrees trees = FitBoostedTrees(table.x.Rows(fold.train), y(fold.train),
                                               CountsOf(table.weights, fold.train), fit);
    return PredictInStages(trees, table.x.Rows(fold.held_out), kStage * options_.bags);
  };
  // The first fold tells how deep trees should be.
  Matrix first[std::size(tried)];
  pool.Run(std::ssize(tried), [&](Index k) { first[k] = without(0, tried[k]); });
  const std::vector<Index>& judges = table.folds.front().held_out;
  const auto least_error = [&](const Matrix& said) {
    return SquaredErrors(y(judges), said, CountsOf(table.weights, judges)).minCoeff();
  };
  const Index chosen = least_error(first[1]) < least_error(first[0]) ? 1 : 0;
  const TreeFit& fit = tried[chosen];
  Matrix stages(table.rows(), fit.rounds / kStage);
  stages(judges, Eigen::all) = first[chosen];
  BoostedTrees& of_all = trees_[static_cast<std::size_t>(target)];
  pool.Run(folds, [&](Index job) {
    if (job == 0) {
      of_all = FitBoostedTrees(table.x, y, table.weights, fit);
    } else {
      stages(table.folds[static_cast<std::size_t>(job)].held_out, Eigen::all) = without(job, fit);
    }
  });
  const Vector errors = SquaredErrors(y, stages, table.weights);
  Index best = 0;
  const double least = errors.minCoeff(&best);
  KeepTrees((best + 1) * kStage * options_.bags, &of_all);
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
