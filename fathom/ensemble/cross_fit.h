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
  // One network for each of these folds: of the other rows nothing is known.
  CrossFit(const Dataset& dataset, const ScaledTable& table, Recipe recipe,
           std::vector<std::size_t> folds);

  const Recipe& recipe() const { return recipe_; }
  std::size_t folds_left() const { return folds_.size() - networks_.size(); }
  bool complete() const { return folds_left() == 0; }
  // The fold whose network comes next; there is one unless it is complete.
  std::size_t next_fold() const { return folds_[networks_.size()]; }
  // The rows of the folds whose networks are there.
  std::vector<Index> RowsDone() const;
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
  std::vector<std::size_t> folds_;
  std::vector<Member> networks_;
  Moments left_out_;
  Matrix cell_variance_;
  Vector log_probability_;
};

}  // namespace fathom

#endif  // FATHOM_ENSEMBLE_CROSS_FIT_H_
