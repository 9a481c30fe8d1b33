#include "fathom/inference/share_functions.h"

#include <gtest/gtest.h>

#include "fathom/base/random.h"
#include "fathom/model/initialize.h"
#include "tests/support/ranks_in_threads.h"

namespace fathom {
namespace {

DeepGp Shape(std::vector<Index> hidden, std::vector<Index> inducing) {
  Architecture architecture;
  architecture.hidden = std::move(hidden);
  architecture.inducing = std::move(inducing);
  return Initialize(architecture, {}, 1, RandomStream(1).NormalMatrix(60, 2), 1);
}

// The number of functions of each rank.
std::vector<Index> Counts(const DeepGp& shape, int ranks) {
  std::vector<Index> counts(static_cast<std::size_t>(ranks));
  RanksInThreads(ranks).Run([&](const Communicator& rank) {
    const FunctionShares shares(shape, rank);
    const FunctionShare mine = shares.mine();
    counts[rank.rank()] = mine.end - mine.begin;
    // Runs, one behind the other.
    if (rank.rank() > 0) {
      EXPECT_EQ(mine.begin, shares.Of(rank.rank() - 1).end);
    }
  });
  return counts;
}

TEST(FunctionShares, TakeAboutAsLongForEachRank) {
  using Counted = std::vector<Index>;
  const DeepGp six = Shape({5}, {20});
  EXPECT_EQ(Counts(six, 2), (Counted{3, 3}));
  EXPECT_EQ(Counts(six, 3), (Counted{2, 2, 2}));
  const DeepGp three = Shape({2}, {20});
  EXPECT_EQ(Counts(three, 2), (Counted{1, 2}));  // the first rank has other duties
  const DeepGp unequal = Shape({4}, {10, 40});   // the last one takes 64 times as long
  EXPECT_EQ(Counts(unequal, 2), (Counted{4, 1}));
  Index functions = 0;
  for (const Index count : Counts(three, 5)) functions += count;
  EXPECT_EQ(functions, 3);
}

TEST(FunctionShares, AreNotMadeForManyRanksOrForCovariances) {
  DeepGp joint = Shape({2}, {5});
  joint.full_covariance = true;
  const DeepGp diagonal = Shape({2}, {5});
  RanksInThreads(9).Run([&](const Communicator& ranks) {
    EXPECT_FALSE(FunctionShares(diagonal, ranks).shared());
    EXPECT_TRUE(FunctionShares(diagonal, ranks).mine().Holds(2));
  });
  RanksInThreads(2).Run(
      [&](const Communicator& ranks) { EXPECT_FALSE(FunctionShares(joint, ranks).shared()); });
  EXPECT_FALSE(FunctionShares(diagonal, Alone()).shared());
}

TEST(FunctionShares, SectionsHoldTheSumsOfTheShareAndTheFirstAlsoTheRest) {
  const DeepGp shape = Shape({2}, {6});
  const ThreadPool pool(1);
  ConditionedModel gps;
  gps.Prepare(shape, {0.5, 10}, pool);
  Network network;
  network.Prepare(shape, {}, gps, pool);
  Sums sums;
  network.ResetSums(&sums);
  for (const int size : {2, 3, 5}) {
    RanksInThreads(size).Run([&](const Communicator& ranks) {
      const FunctionShares shares(shape, ranks);
      const Sections sections = shares.SectionsOf(sums.layout);
      EXPECT_EQ(sections.begin(0), 0);
      EXPECT_EQ(sections.begins.back(), sums.layout.size);
      const auto holds = [&](const Sums::Part& part, int rank) {
        return sections.begin(rank) <= part.begin &&
               part.begin + part.rows * part.cols <= sections.begins[rank + 1];
      };
      EXPECT_TRUE(holds(sums.layout.noise[0], 0));
      EXPECT_TRUE(holds(sums.layout.likelihood, 0));
      for (int r = 0; r < size; ++r) {
        for (Index f = shares.Of(r).begin; f < shares.Of(r).end; ++f) {
          const auto [l, d] = gps.LayerAndFunction(f);
          EXPECT_TRUE(holds(sums.layout.functions[l][d], r)) << f << " at " << r;
        }
      }
    });
  }
}

}  // namespace
}  // namespace fathom
