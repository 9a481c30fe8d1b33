#include "fathom/base/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <unordered_set>

#include "fathom/base/error.h"

namespace fathom {

std::array<std::uint32_t, 4> Philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

RandomStream::RandomStream(std::uint64_t seed, std::uint64_t stream)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      stream_(stream) {}

std::uint64_t RandomStream::Bits() {
  if (used_ > 2) {
    buffer_ =
        Philox4x32({static_cast<std::uint32_t>(block_), static_cast<std::uint32_t>(block_ >> 32),
                    static_cast<std::uint32_t>(stream_), static_cast<std::uint32_t>(stream_ >> 32)},
                   key_);
    ++block_;
    used_ = 0;
  }
  const std::uint64_t bits = (std::uint64_t{buffer_[used_ + 1]} << 32) | buffer_[used_];
  used_ += 2;
  return bits;
}

double RandomStream::Uniform() { return (static_cast<double>(Bits() >> 12) + 0.5) * 0x1p-52; }

double RandomStream::Normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_normal_;
  }
  const double radius = std::sqrt(-2 * std::log(Uniform()));
  const double angle = 2 * std::numbers::pi * Uniform();
  spare_normal_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

Index RandomStream::Below(Index bound) {
  FATHOM_CHECK(bound > 0);
  const auto range = static_cast<std::uint64_t>(bound);
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % range;
  std::uint64_t bits = Bits();
  while (bits >= limit) bits = Bits();
  return static_cast<Index>(bits % range);
}

Matrix RandomStream::NormalMatrix(Index rows, Index cols) {
  Matrix draws(rows, cols);
  for (Index i = 0; i < draws.size(); ++i) draws.data()[i] = Normal();
  return draws;
}

std::vector<Index> RandomStream::Permutation(Index n) {
  std::vector<Index> order;
  Permutation(n, &order);
  return order;
}

void RandomStream::Permutation(Index n, std::vector<Index>* order) {
  order->resize(static_cast<std::size_t>(n));
  std::iota(order->begin(), order->end(), Index{0});
  for (Index i = n - 1; i > 0; --i) std::swap((*order)[i], (*order)[Below(i + 1)]);
}

std::vector<Index> RandomStream::Sample(Index n, Index count) {
  constexpr Index kMostPermuted = Index{1} << 20;
  count = std::min(n, count);
  std::vector<Index> sample;
  if (n <= kMostPermuted || count > n / 2) {
    Permutation(n, &sample);
    sample.resize(static_cast<std::size_t>(count));
    return sample;
  }
  std::unordered_set<Index> seen;
  while (std::ssize(sample) < count) {
    const Index drawn = Below(n);
    if (seen.insert(drawn).second) sample.push_back(drawn);
  }
  return sample;
}

}  // namespace fathom
