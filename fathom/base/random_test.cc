#include "fathom/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fathom {
namespace {

TEST(Philox, MatchesThePublishedVectors) {
  // Known-answer vectors of the Random123 distribution.
  const std::array<std::uint32_t, 4> zero{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  EXPECT_EQ(Philox4x32({0, 0, 0, 0}, {0, 0}), zero);
  const std::array<std::uint32_t, 4> pi{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
  EXPECT_EQ(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            pi);
}

TEST(RandomStream, SameSeedSameDrawsAndOtherStreamOtherDraws) {
  RandomStream a(7, 1), b(7, 1), c(7, 2);
  const std::uint64_t first = a.Bits();
  EXPECT_EQ(first, b.Bits());
  EXPECT_NE(first, c.Bits());
}

TEST(RandomStream, NormalHasUnitMoments) {
  RandomStream stream(1);
  const Matrix draws = stream.NormalMatrix(200, 500);
  EXPECT_NEAR(draws.mean(), 0, 0.01);
  EXPECT_NEAR(draws.array().square().mean(), 1, 0.02);
  EXPECT_NEAR(draws.array().pow(4).mean(), 3, 0.1);
}

TEST(RandomStream, PermutationHoldsEveryIndexOnce) {
  RandomStream stream(3);
  std::vector<Index> order = stream.Permutation(100);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (Index i = 0; i < 100; ++i) EXPECT_EQ(order[i], i);
}

TEST(RandomStream, BelowIsUniform) {
  RandomStream stream(5);
  std::array<int, 3> counts{};
  for (int i = 0; i < 30000; ++i) ++counts[stream.Below(3)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 400);
}

TEST(RandomStream, ASampleIsDifferentNumbersInRandomOrder) {
  for (const Index n : {Index{50}, Index{3} << 20}) {
    std::vector<Index> sample = RandomStream(3).Sample(n, 40);
    EXPECT_EQ(sample, RandomStream(3).Sample(n, 40));
    EXPECT_FALSE(std::is_sorted(sample.begin(), sample.end()));
    std::sort(sample.begin(), sample.end());
    EXPECT_EQ(std::unique(sample.begin(), sample.end()), sample.end());
    EXPECT_EQ(std::ssize(sample), 40);
    EXPECT_GE(sample.front(), 0);
    EXPECT_LT(sample.back(), n);
  }
  EXPECT_EQ(RandomStream(3).Sample(7, 100), RandomStream(3).Permutation(7));
}

}  // namespace
}  // namespace fathom
