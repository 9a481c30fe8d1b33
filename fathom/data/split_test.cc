#include "fathom/data/split.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "fathom/base/error.h"

namespace fathom {
namespace {

// Both lists ascend and together hold every row once.
bool IsPartition(const Split& split, Index rows) {
  std::vector<Index> all, expected(static_cast<std::size_t>(rows));
  std::merge(split.train.begin(), split.train.end(), split.held_out.begin(), split.held_out.end(),
             std::back_inserter(all));
  std::iota(expected.begin(), expected.end(), Index{0});
  return all == expected;
}

TEST(RandomSplit, HoldsOutTheFraction) {
  RandomStream stream(1);
  const Split split = RandomSplit(1000, 0.1, &stream);
  EXPECT_EQ(split.held_out.size(), 100u);
  EXPECT_TRUE(IsPartition(split, 1000));
  EXPECT_NE(split.held_out.back(), 99);  // not simply the first rows
}

TEST(RandomSplit, DependsOnTheSeedAlone) {
  RandomStream a(1), b(1), c(2);
  const Split first = RandomSplit(50, 0.5, &a);
  EXPECT_EQ(first.held_out, RandomSplit(50, 0.5, &b).held_out);
  EXPECT_NE(first.held_out, RandomSplit(50, 0.5, &c).held_out);
}

TEST(RandomSplit, LeavesBothSidesARow) {
  RandomStream stream(1);
  EXPECT_EQ(RandomSplit(2, 0.01, &stream).held_out.size(), 1u);
  EXPECT_EQ(RandomSplit(2, 0.99, &stream).train.size(), 1u);
  EXPECT_EQ(RandomSplit(5, 0, &stream).train.size(), 5u);
}

TEST(RandomSplit, RefusesWhatCannotBeSplit) {
  RandomStream stream(1);
  EXPECT_THROW(RandomSplit(1, 0.5, &stream), Error);
  EXPECT_THROW(RandomSplit(10, 1, &stream), Error);
  EXPECT_THROW(RandomSplit(10, -0.1, &stream), Error);
  EXPECT_THROW(RandomSplit(0, 0, &stream), Error);
}

RC_GTEST_PROP(KFold, PartitionsTheRowsEvenly, ()) {
  const auto rows = *rc::gen::inRange<Index>(2, 60);
  const auto folds = *rc::gen::inRange<Index>(2, rows + 1);
  RandomStream stream(*rc::gen::arbitrary<std::uint64_t>());
  const std::vector<Split> splits = KFold(rows, folds, &stream);
  RC_ASSERT(static_cast<Index>(splits.size()) == folds);
  std::vector<int> held_out(static_cast<std::size_t>(rows), 0);
  for (const Split& split : splits) {
    RC_ASSERT(IsPartition(split, rows));
    const auto size = static_cast<Index>(split.held_out.size());
    RC_ASSERT(size == rows / folds || size == rows / folds + 1);
    for (const Index row : split.held_out) ++held_out[static_cast<std::size_t>(row)];
  }
  RC_ASSERT(std::all_of(held_out.begin(), held_out.end(), [](int count) { return count == 1; }));
}

TEST(KFold, RefusesTooFewOrTooManyFolds) {
  RandomStream stream(1);
  EXPECT_THROW(KFold(10, 1, &stream), Error);
  EXPECT_THROW(KFold(10, 11, &stream), Error);
}

TEST(Split, OrderedFoldsNeverLearnFromWhatComesLater) {
  Vector times(10);
  times << 5, 1, 1, 3, 9, 7, 7, 7, 2, 8;
  const std::vector<Split> splits = OrderedFolds(times, 3);
  ASSERT_EQ(splits.size(), 3U);
  for (const Split& split : splits) {
    ASSERT_FALSE(split.train.empty());
    ASSERT_FALSE(split.held_out.empty());
    double latest = 0, earliest = 100;
    for (const Index n : split.train) latest = std::max(latest, times[n]);
    for (const Index n : split.held_out) earliest = std::min(earliest, times[n]);
    EXPECT_LT(latest, earliest);
  }
  EXPECT_EQ(splits.back().train.size() + splits.back().held_out.size(), 10U);
}

TEST(Split, OrderedFoldsNeedTimes) {
  EXPECT_THROW(OrderedFolds(Vector::Ones(5), 1), Error);
  EXPECT_EQ(OrderedFolds(Vector::LinSpaced(4, 0, 3), 3).size(), 3U);
  EXPECT_THROW(OrderedFolds(Vector::LinSpaced(4, 0, 3), 4), Error);
}

}  // namespace
}  // namespace fathom
