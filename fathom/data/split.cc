#include "fathom/data/split.h"

#include <algorithm>
#include <cmath>
#include <map>

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

// Row numbers by the value that they have in common, values ascending.
std::map<double, std::vector<Index>> RowsByValue(const Vector& values, const char* what) {
  std::map<double, std::vector<Index>> rows;
  for (Index n = 0; n < values.size(); ++n) {
    if (std::isnan(values[n])) ThrowError("row ", n + 1, " has no ", what);
    rows[values[n]].push_back(n);
  }
  return rows;
}

std::vector<Split> HoldOutEach(const std::vector<std::vector<Index>>& parts, Index rows) {
  std::vector<Split> splits;
  for (const std::vector<Index>& part : parts) {
    Split split;
    split.held_out = part;
    std::sort(split.held_out.begin(), split.held_out.end());
    std::vector<bool> held(static_cast<std::size_t>(rows), false);
    for (const Index row : part) held[static_cast<std::size_t>(row)] = true;
    for (Index row = 0; row < rows; ++row) {
      if (!held[static_cast<std::size_t>(row)]) split.train.push_back(row);
    }
    splits.push_back(std::move(split));
  }
  return splits;
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

std::vector<Split> GroupedFolds(const Vector& groups, Index folds, RandomStream* stream) {
  Require(folds >= 2, "number of folds", "at least 2", folds);
  std::vector<std::vector<Index>> members;
  for (auto& [value, rows] : RowsByValue(groups, "group")) members.push_back(std::move(rows));
  const auto count = static_cast<Index>(members.size());
  if (folds > count)
    ThrowError("number of folds must be at most the number of groups (", count, "), not ", folds);
  std::vector<Index> order = stream->Permutation(count);  // of groups that are equally large
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return members[static_cast<std::size_t>(a)].size() >
           members[static_cast<std::size_t>(b)].size();
  });
  std::vector<std::vector<Index>> parts(static_cast<std::size_t>(folds));
  for (const Index group : order) {
    auto& smallest =
        *std::min_element(parts.begin(), parts.end(),
                          [](const auto& a, const auto& b) { return a.size() < b.size(); });
    const std::vector<Index>& rows = members[static_cast<std::size_t>(group)];
    smallest.insert(smallest.end(), rows.begin(), rows.end());
  }
  return HoldOutEach(parts, groups.size());
}

std::vector<Split> GivenFolds(const Vector& fold_of_row) {
  std::vector<std::vector<Index>> parts;
  for (auto& [value, rows] : RowsByValue(fold_of_row, "fold")) parts.push_back(std::move(rows));
  if (parts.size() < 2) ThrowError("there must be at least two folds, not ", parts.size());
  return HoldOutEach(parts, fold_of_row.size());
}

std::vector<Split> OrderedFolds(const Vector& times, Index folds) {
  Require(folds >= 1, "number of folds", "at least 1", folds);
  std::vector<std::vector<Index>> moments;
  for (auto& [value, rows] : RowsByValue(times, "time")) moments.push_back(std::move(rows));
  const auto count = static_cast<Index>(moments.size());
  if (folds + 1 > count) {
    ThrowError("number of folds must be below the number of different times (", count, "), not ",
               folds);
  }
  std::vector<Split> splits;
  std::vector<Index> before;
  Index next = 0;
  for (Index part = 0; part <= folds; ++part) {
    std::vector<Index> rows;
    // To the share of all rows that belongs to this part, but at least one moment, and so that one
    // is left for each part behind it.
    const Index wanted = times.size() * (part + 1) / (folds + 1);
    do {
      const std::vector<Index>& moment = moments[static_cast<std::size_t>(next++)];
      rows.insert(rows.end(), moment.begin(), moment.end());
    } while (static_cast<Index>(before.size() + rows.size()) < wanted &&
             count - next > folds - part);
    std::sort(rows.begin(), rows.end());
    if (part > 0) splits.push_back({before, rows});
    before.insert(before.end(), rows.begin(), rows.end());
    std::sort(before.begin(), before.end());
  }
  return splits;
}

}  // namespace fathom
