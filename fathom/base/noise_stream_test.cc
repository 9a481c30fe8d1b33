#include "fathom/base/noise_stream.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "fathom/base/random.h"
#include "fathom/distribution/prediction.h"

namespace fathom {
namespace {

TEST(NoiseStream, ChunksAreBlocksOfPhilox) {
  const std::uint64_t seed = 0x123456789ABCDEF0;
  const std::uint64_t stream = 0xFEDCBA9876543210;
  // The low word of the counter runs over within the chunk.
  for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{0xFFFFFFF8}}) {
    std::array<std::uint32_t, kChunkWords> words;
    PhiloxChunk(seed, stream, first, words.data());
    for (Index b = 0; b < kChunkBlocks; ++b) {
      const std::uint64_t block = first + static_cast<std::uint64_t>(b);
      const auto scalar =
          Philox4x32({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                      static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)},
                     {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
      EXPECT_EQ(words[2 * b], scalar[0]) << b;
      EXPECT_EQ(words[2 * b + 1], scalar[1]) << b;
      EXPECT_EQ(words[2 * kChunkBlocks + 2 * b], scalar[2]) << b;
      EXPECT_EQ(words[2 * kChunkBlocks + 2 * b + 1], scalar[3]) << b;
    }
  }
}

std::vector<double> Normals(std::uint64_t seed, std::uint64_t stream, std::size_t count) {
  std::vector<double> draws(count);
  NoiseStream(seed, stream).Normals(draws);
  return draws;
}

// Cell by cell, and in the tails; the bounds are five standard errors.
TEST(NoiseStream, NormalsAreNormal) {
  constexpr std::size_t kCount = 4'000'000;
  const std::vector<double> draws = Normals(1, 2, kCount);
  std::array<double, 4> moments{};
  std::vector<double> edges = {-4.5, -4, -3, -2, -1, -0.5, -0.1, 0, 0.1, 0.5, 1, 2, 3, 4, 4.5};
  std::vector<double> below(edges.size());
  double products = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const double z = draws[i];
    EXPECT_LT(std::abs(z), 6.7);
    for (int p = 0; p < 4; ++p) moments[p] += std::pow(z, p + 1) / kCount;
    for (std::size_t e = 0; e < edges.size(); ++e) below[e] += z < edges[e];
    // The two of a pair, which share their radius, are 32 apart.
    if (i + 32 < kCount) products += (z * z - 1) * (draws[i + 32] * draws[i + 32] - 1) / kCount;
  }
  const double unit = 5 / std::sqrt(double{kCount});
  EXPECT_NEAR(moments[0], 0, unit);
  EXPECT_NEAR(moments[1], 1, unit * std::sqrt(2));
  EXPECT_NEAR(moments[2], 0, unit * std::sqrt(15));
  EXPECT_NEAR(moments[3], 3, unit * std::sqrt(96));
  EXPECT_NEAR(products, 0, unit * 2);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const double p = NormalCdf(edges[e]);
    EXPECT_NEAR(below[e] / kCount, p, unit * std::sqrt(p * (1 - p))) << edges[e];
  }
}

TEST(NoiseStream, StreamsAndSeedsDiffer) {
  EXPECT_EQ(Normals(1, 2, 100), Normals(1, 2, 100));
  EXPECT_NE(Normals(1, 2, 100), Normals(1, 3, 100));
  EXPECT_NE(Normals(1, 2, 100), Normals(2, 2, 100));
}

TEST(NoiseStream, AWholeChunkLessGivesTheSameNumbers) {
  const std::vector<double> all = Normals(1, 2, 200);
  NoiseStream parts(1, 2);
  std::vector<double> first(64);
  std::vector<double> rest(136);
  parts.Normals(first);
  parts.Normals(rest);
  first.insert(first.end(), rest.begin(), rest.end());
  EXPECT_EQ(first, all);
}

TEST(NoiseStream, MasksHaveTheirRate) {
  for (const double rate : {0.0, 0.005, 0.5, 1.0}) {
    std::vector<double> masks(400'000);
    NoiseStream(7, 1).Masks(rate, 1.25, masks);
    double zeros = 0;
    for (const double mask : masks) {
      EXPECT_TRUE(mask == 0 || mask == 1.25);
      zeros += mask == 0;
    }
    EXPECT_NEAR(zeros / 4e5, rate, 5 * std::sqrt(rate * (1 - rate) / 4e5) + 1e-9) << rate;
  }
}

}  // namespace
}  // namespace fathom
