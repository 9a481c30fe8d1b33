// Boosted regression trees: a sum of trees, each of which learns a part of what those before
// it leave over. With the residuals r and the counts c of the rows, a node of the rows R has
//   G = sum_R c_n r_n,  C = sum_R c_n;   a leaf adds  rate G / (C + penalty)        [boosted-trees]
// and a node is divided where G_l^2 / (C_l + penalty) + G_r^2 / (C_r + penalty) is largest. Each
// tree sees a part of the rows and columns, so that they differ. Gaussian processes are smooth or
// rough alike wherever they look; trees jump where the table does, so the two err in other places.
//
// A division sends the rows whose cell is missing to the side that raises its score more.
#ifndef FATHOM_TREES_BOOSTED_TREES_H_
#define FATHOM_TREES_BOOSTED_TREES_H_

#include <cstdint>
#include <vector>

#include "fathom/base/types.h"

namespace fathom {

// Where a missing cell goes.
enum class MissingCells : std::int8_t {
  kBothWays,  // as far as the cell may lie on either side: its column had none to learn from
  kLeft,
  kRight
};

// A row goes to the next node if its cell in `column` is at most `value`, else to `right`.
struct TreeNode {
  std::int32_t column = -1;  // -1: a leaf, and `value` is what it adds
  std::int32_t right = -1;
  double value = 0;
  MissingCells missing = MissingCells::kBothWays;
};

// Missing cells of a standardised column are N(0, 1), see Scaler.
inline bool IsMissing(double mean, double var) { return mean == 0 && var == 1; }

// Of one target.
struct BoostedTrees {
  double base = 0;
  std::vector<TreeNode> nodes;      // tree after tree, a node before those below it
  std::vector<std::int32_t> roots;  // [trees], ascending
};

struct TreeFit {
  Index rounds = 300;
  Index bags = 1;  // sums of trees that are fitted apart; their mean is taken
  int depth = 6;
  double rate = 0.06;
  double penalty = 1;  // in rows
  double least = 2;    // rows on both sides of a division
  double share_of_rows = 0.7;
  double share_of_columns = 0.7;
  Index least_columns = 5;       // or all that there are
  Index columns = 0;             // the first ones alone may be asked; 0: all
  Index most_cells = 1'000'000;  // of a larger table a random part of the rows teaches
  std::uint64_t seed = 1;
};

// Each round adds one tree of each bag. A y that is NaN is not known. `weights` [N], or empty: a
// row counts as so many. A cell that is uncertain, but not missing, is taken at its mean.
BoostedTrees FitBoostedTrees(const Moments& x, const Vector& y, const Vector& weights,
                             const TreeFit& options);

// The mean of a row of N(mean, diag(var)) cells. A cell with a variance goes both ways, as far as
// it may lie on either side, unless it is missing and the trees have learnt where such cells go.
double PredictTrees(const BoostedTrees& trees, const double* mean, const double* var);

// [N, rounds / every]: what the first `every`, 2 `every`, ... trees say of rows.
Matrix PredictInStages(const BoostedTrees& trees, const Moments& x, Index every);

// The first ones alone.
void KeepTrees(Index count, BoostedTrees* trees);

}  // namespace fathom

#endif  // FATHOM_TREES_BOOSTED_TREES_H_
