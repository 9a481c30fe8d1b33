// Boosted trees laid out for predictions of many rows. A row that goes down one tree after another
// waits at each node for the one before. Here several rows go down the same tree side by side, as
// many steps as the tree is deep, without a branch: a leaf leads to itself. Rows with cells that
// are not certain go alone.
#ifndef FATHOM_TREES_TREE_ROWS_H_
#define FATHOM_TREES_TREE_ROWS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "fathom/trees/boosted_trees.h"

namespace fathom {

class TreeRows {
 public:
  // Keeps a reference to the trees, whose ways all lead down.
  explicit TreeRows(const BoostedTrees& trees);

  // What PredictTrees says of as many rows of x as mean has, from number `first` on, bit by bit.
  // Costs about 5 ns per row and tree of depth 6 if all cells are certain.
  void Predict(const Moments& x, Index first, std::span<double> mean) const;

 private:
  struct Tree {
    std::int32_t root, depth;
  };

  // What certain rows need of a node, in two thirds of its size.
  struct Step {
    std::int32_t column, right;
    double value;
  };

  void PredictCertain(const Matrix& x, Index first, std::span<double> mean) const;

  const BoostedTrees& trees_;
  std::vector<Step> nodes_;  // a leaf asks whether column 0 is at most NaN, else stays
  std::vector<Tree> order_;
};

}  // namespace fathom

#endif  // FATHOM_TREES_TREE_ROWS_H_
