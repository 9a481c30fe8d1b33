#include "fathom/data/split.h"

#include <algorithm>
#include <cmath>

#include "fathom/base/error.h"

namespace fathom {
namespace {

// Holds out order[begin..end).
Split HoldOut(const std::vector<Index>& order, Index begin, Index end) {
  Split split;
  split.train.assign(order.begin(), order.begin() + begin);
  split.train.insert(split.train.end(), order.begin() + end, order.end());
  split.held_out.assign(order.begin() + begin, order.begin() + end);
  std::sort(split.train.begin(), split.train.end());
  std::sort(split.held_out.begin(), split.held_out.end());
  return split;
}

}  // namespace

Split RandomSplit(Index rows, double fraction, RandomStream* stream) {
  Require(fraction >= 0 && fraction < 1, "held-out fraction", "at least 0 and below 1", fraction);
  Require(rows >= 1, "number of rows", "at least 1", rows);
  const std::vector<Index> order = stream->Permutation(rows);
  if (fraction == 0) return HoldOut(order, 0, 0);
  Require(rows >= 2, "number of rows", "at least 2 to hold some out", rows);
  const auto wanted = static_cast<Index>(std::llround(fraction * static_cast<double>(rows)));
  return HoldOut(order, 0, std::clamp(wanted, Index{1}, rows - 1));
}

std::vector<Split> KFold(Index rows, Index folds, RandomStream* stream) {
  Require(folds >= 2, "number of folds", "at least 2", folds);
  if (folds > rows) {
    ThrowError("number of folds must be at most the number of rows (", rows, "), not ", folds);
  }
  const std::vector<Index> order = stream->Permutation(rows);
  // The first rows % folds folds have one row more.
  const auto begin = [&](Index fold) {
    return fold * (rows / folds) + std::min(fold, rows % folds);
  };
  std::vector<Split> splits;
  for (Index fold = 0; fold < folds; ++fold) {
    splits.push_back(HoldOut(order, begin(fold), begin(fold + 1)));
  }
  return splits;
}

}  // namespace fathom
