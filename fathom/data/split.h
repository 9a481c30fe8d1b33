// Partitions of row numbers, by chance, by group or by time.
#ifndef FATHOM_DATA_SPLIT_H_
#define FATHOM_DATA_SPLIT_H_

#include <vector>

#include "fathom/base/export.h"
#include "fathom/base/random.h"
#include "fathom/base/types.h"

namespace fathom FATHOM_PUBLIC {

// Every row once at most; each list ascends, so that rows are read in the order of memory.
struct Split {
  std::vector<Index> train;
  std::vector<Index> held_out;
};

// Holds out round(fraction * rows) rows, but at least one, and leaves at least one for training.
// fraction in [0, 1); 0 holds out none. Throws Error if the fraction is not in range or there are
// too few rows to split.
Split RandomSplit(Index rows, double fraction, RandomStream* stream);

// `folds` splits whose held-out lists partition the rows, in sizes that differ by at most one.
// Throws Error unless 2 <= folds <= rows.
std::vector<Split> KFold(Index rows, Index folds, RandomStream* stream);

// The same, but rows of one group, those with the same number in `groups`, are held out together;
// sizes are as even as taking the largest groups first makes them. Throws Error if there are fewer
// groups than folds or a row has none (NaN).
std::vector<Split> GroupedFolds(const Vector& groups, Index folds, RandomStream* stream);

// One split per distinct number in `fold_of_row`, in their order, which holds out its rows. Throws
// Error if there are fewer than two or a row has none (NaN).
std::vector<Split> GivenFolds(const Vector& fold_of_row);

// `folds` splits that never learn from what comes later: the rows in the order of `times` are cut
// into folds + 1 parts, and each split holds out one of them and trains on all before it. Rows of
// the same time stay together. Throws Error if there are fewer different times than parts or a row
// has none (NaN).
std::vector<Split> OrderedFolds(const Vector& times, Index folds);

}  // namespace fathom

#endif  // FATHOM_DATA_SPLIT_H_
