// Boosted trees that may join an ensemble, and how they predict each row without that row.
#ifndef FATHOM_ENSEMBLE_TREE_CANDIDATE_H_
#define FATHOM_ENSEMBLE_TREE_CANDIDATE_H_

#include <memory>
#include <vector>

#include "fathom/base/threads.h"
#include "fathom/ensemble/scaled_table.h"
#include "fathom/fitted/expert.h"
#include "fathom/trees/boosted_trees.h"

namespace fathom {

class TreeCandidate {
 public:
  // Whether the table has rows enough, whose cells are known or missing. Trees do not know how
  // uncertain cells make them, and would have to go both ways at every division. (Columns that are
  // turned, see whiten.h, make all cells of a row uncertain where one is missing.)
  static bool CanLearn(const ScaledTable& table);

  struct Options {
    Index bags = 1;  // see TreeFit
    std::uint64_t seed = 1;
  };
  // Fits trees without each fold, and, once these have told how many are best, trees of all rows.
  TreeCandidate(const ScaledTable& table, const Options& options, const ThreadPool& pool);

  // Mean and variance of y [N, targets], each row by trees that have not seen its fold.
  const Moments& left_out() const { return left_out_; }
  std::shared_ptr<const Expert> MakeExpert() const;

 private:
  void FitTarget(const ScaledTable& table, Index target, const ThreadPool& pool);

  Options options_;
  Index inputs_;
  std::vector<BoostedTrees> trees_;  // [targets]
  Vector noise_;                     // [targets]
  Moments left_out_;
};

}  // namespace fathom

#endif  // FATHOM_ENSEMBLE_TREE_CANDIDATE_H_
