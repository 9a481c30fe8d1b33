// Networks of one kind, each trained without one fold of the rows.
#ifndef FATHOM_ENSEMBLE_CROSS_FIT_H_
#define FATHOM_ENSEMBLE_CROSS_FIT_H_

#include <cstddef>
#include <vector>

#include "fathom/data/dataset.h"
#include "fathom/ensemble/scaled_table.h"
#include "fathom/fitted/model.h"

namespace fathom {

class CrossFit {
 public:
  // One network for each fold. Keeps references to dataset and table.
  CrossFit(const Dataset& dataset, const ScaledTable& table, Recipe recipe);
  // One network, for this fold alone: of the other rows nothing is known.
  CrossFit(const Dataset& dataset, const ScaledTable& table, Recipe recipe, std::size_t fold);

  const Recipe& recipe() const { return recipe_; }
  std::size_t first_fold() const { return first_fold_; }
  // The fold whose network comes next, or, when they are all there, the one behind the last.
  std::size_t next_fold() const { return first_fold_ + networks_.size(); }
  std::size_t folds_left() const { return end_fold_ - next_fold(); }
  bool complete() const { return folds_left() == 0; }
  // Adds the network of the next fold and asks it about the rows of the fold.
  void Add(Member network);

  const std::vector<Member>& networks() const { return networks_; }
  // [N, targets] in scaled units: each row as the network says that has not seen it; NaN where
  // there is none. Numbers only.
  const Moments& left_out() const { return left_out_; }
  // [N, targets]: how much of their variance comes from cells that are missing or uncertain.
  const Matrix& cell_variance() const { return cell_variance_; }
  // [N]: the log probability of each row's class. Classes only.
  const Vector& log_probability() const { return log_probability_; }

 private:
  const Dataset& dataset_;
  const ScaledTable& table_;
  Recipe recipe_;
  std::size_t first_fold_, end_fold_;
  std::vector<Member> networks_;
  Moments left_out_;
  Matrix cell_variance_;
  Vector log_probability_;
};

}  // namespace fathom

#endif  // FATHOM_ENSEMBLE_CROSS_FIT_H_
