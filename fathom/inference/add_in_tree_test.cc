#include "fathom/inference/add_in_tree.h"

#include <gtest/gtest.h>

#include "fathom/base/random.h"
#include "tests/support/ranks_in_threads.h"

namespace fathom {
namespace {

constexpr Index kSize = 40;  // more than a rank's section, less than a block

std::vector<Sums> RandomSlots(Index slots) {
  RandomStream stream(3);
  std::vector<Sums> sums(static_cast<std::size_t>(slots));
  for (Sums& slot : sums) {
    slot.layout.size = kSize;
    slot.SetZero();
    for (double& value : slot.values()) value = stream.Normal();
  }
  return sums;
}

std::vector<double> SumOver(int ranks, Index slots, int threads, const Sections& sections) {
  std::vector<double> sum;
  RanksInThreads(ranks).Run([&](const Communicator& rank) {
    const ThreadPool pool(threads);
    std::vector<Sums> sums = RandomSlots(slots);
    // What belongs to others must not be looked at.
    for (Index slot = 0; slot < slots; ++slot) {
      if (SlotsOfRank(slots, rank.rank(), ranks).Holds(slot)) continue;
      for (double& value : sums[slot].values()) value = std::nan("");
    }
    TreeMemory memory;
    AddInTree(sums, sections, rank, pool, &memory);
    GatherSections(sections, rank, &sums[0], &memory);
    if (rank.rank() == 0) sum.assign(sums[0].values().begin(), sums[0].values().end());
  });
  return sum;
}

std::vector<double> SumOver(int ranks, Index slots, int threads) {
  return SumOver(ranks, slots, threads, EqualSections(kSize, ranks));
}

class TreeOf : public testing::TestWithParam<Index> {};
INSTANTIATE_TEST_SUITE_P(Slots, TreeOf, testing::Values(1, 2, 3, 7, 8, 16, 21));

TEST_P(TreeOf, GivesTheSameBitsForAnyRanksAndThreads) {
  const std::vector<double> alone = SumOver(1, GetParam(), 1);
  for (const int ranks : {1, 2, 3, 4, 5, 9}) {
    for (const int threads : {1, 2}) EXPECT_EQ(SumOver(ranks, GetParam(), threads), alone) << ranks;
  }
}

TEST_P(TreeOf, SectionsMayHaveAnySize) {
  const std::vector<double> alone = SumOver(1, GetParam(), 1);
  EXPECT_EQ(SumOver(3, GetParam(), 1, {{0, 7, 7, kSize}}), alone);
  EXPECT_EQ(SumOver(2, GetParam(), 1, {{0, kSize, kSize}}), alone);
  EXPECT_EQ(SumOver(4, GetParam(), 1, {{0, 0, 1, 39, kSize}}), alone);
}

TEST_P(TreeOf, IsTheSum) {
  const std::vector<double> sum = SumOver(3, GetParam(), 1);
  const std::vector<Sums> slots = RandomSlots(GetParam());
  for (Index i = 0; i < kSize; ++i) {
    double plain = 0;
    for (const Sums& slot : slots) plain += slot.values()[i];
    EXPECT_NEAR(sum[i], plain, 1e-13);
  }
}

TEST_P(TreeOf, EverySlotBelongsToOneRank) {
  for (const int ranks : {1, 2, 3, 8, 50}) {
    Index next = 0;
    for (int r = 0; r < ranks; ++r) {
      const SlotRange range = SlotsOfRank(GetParam(), r, ranks);
      EXPECT_EQ(range.begin, next);
      for (Index slot = range.begin; slot < range.end; ++slot)
        EXPECT_EQ(RankOfSlot(slot, GetParam(), ranks), r);
      next = range.end;
    }
    EXPECT_EQ(next, GetParam());
    EXPECT_TRUE(SlotsOfRank(GetParam(), 0, ranks).Holds(Index{0}));
  }
}

}  // namespace
}  // namespace fathom
