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
  // Keeps references to dataset and table.
  CrossFit(const Dataset& dataset, const ScaledTable& table, Recipe recipe);

  const Recipe& recipe() const { return recipe_; }
  // The fold whose network comes next, or, when they are all there, the number of folds.
  std::size_t next_fold() const { return networks_.size(); }
  bool complete() const { return networks_.size() == table_.folds.size(); }
  // Adds the network of the next fold and asks it about the rows of the fold.
  void Add(Member network);

  const std::vector<Member>& networks() const { return networks_; }
  // [N, targets] in scaled units: each row as the network says that has not seen it. Numbers only.
  const Moments& left_out() const { return left_out_; }
  // [N, targets]: how much of their variance comes from cells that are missing or uncertain.
  const Matrix& cell_variance() const { return cell_variance_; }
  // [N]: the log probability of each row's class. Classes only.
  const Vector& log_probability() const { return log_probability_; }

 private:
  const Dataset& dataset_;
  const ScaledTable& table_;
  Recipe recipe_;
  std::vector<Member> networks_;
  Moments left_out_;
  Matrix cell_variance_;
  Vector log_probability_;
};

}  // namespace fathom

#endif  // FATHOM_ENSEMBLE_CROSS_FIT_H_
