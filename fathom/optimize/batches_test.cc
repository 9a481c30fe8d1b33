#include "fathom/optimize/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace fathom {
namespace {

constexpr Index kLarge = kMostPermutedRows + 3 * kPieceRows + 17;

// How often each row comes in the steps of one epoch.
std::vector<int> CountEpoch(Index rows, Index size, Index epoch) {
  Batches batches(rows, size, 7);
  std::vector<int> count(static_cast<std::size_t>(rows), 0);
  const Index per_epoch = StepsPerEpoch(rows, size);
  for (Index step = epoch * per_epoch; step < (epoch + 1) * per_epoch; ++step) {
    const std::vector<Index>& batch = batches.At(step);
    EXPECT_EQ(std::ssize(batch), size);
    for (const Index row : batch) ++count[static_cast<std::size_t>(row)];
  }
  return count;
}

TEST(Batches, EveryRowComesOnceButForLessThanABatch) {
  for (const Index rows : {Index{10}, Index{1003}, kLarge}) {
    for (const Index epoch : {0, 3}) {
      const Index size = rows == kLarge ? 1000 : 10;
      const std::vector<int> count = CountEpoch(rows, size, epoch);
      EXPECT_LE(*std::max_element(count.begin(), count.end()), 1);
      EXPECT_LT(std::count(count.begin(), count.end(), 0), size);
    }
  }
}

TEST(Batches, AStepDoesNotDependOnThoseBeforeIt) {
  for (const Index rows : {Index{1003}, kLarge}) {
    Batches in_order(rows, 1000, 7);
    std::vector<std::vector<Index>> all;
    for (Index step = 0; step < 600; ++step) all.push_back(in_order.At(step));
    for (const Index step : {599, 0, 262, 263}) {
      Batches fresh(rows, 1000, 7);
      EXPECT_EQ(fresh.At(step), all[static_cast<std::size_t>(step)]);
    }
    EXPECT_NE(Batches(rows, 1000, 8).At(3), all[3]);
  }
}

TEST(Batches, TheNextOneCanBeAskedForWhileOneIsInUse) {
  Batches batches(kLarge, 1000, 7);
  const std::vector<Index>& present = batches.At(261);  // the window ends in the next one
  const std::vector<Index> copy = present;
  batches.At(262);
  EXPECT_EQ(present, copy);
}

TEST(Batches, ABatchOfALargeTableComesFromManyPieces) {
  Batches batches(kLarge, 1000, 7);
  std::set<Index> pieces;
  for (const Index row : batches.At(0)) pieces.insert(row / kPieceRows);
  EXPECT_EQ(pieces.size(), 64U);
}

}  // namespace
}  // namespace fathom
