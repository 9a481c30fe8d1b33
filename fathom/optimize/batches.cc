#include "fathom/optimize/batches.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "fathom/base/random.h"

namespace fathom {

namespace {

// Apart from the few streams with which the model of the same seed is started.
constexpr std::uint64_t kEpochStreams = std::uint64_t{1} << 32;
// Room for 2^24 windows, which is a table of 4e12 rows.
constexpr std::uint64_t kWindowStreams = std::uint64_t{1} << 60;

RandomStream StreamOfWindow(std::uint64_t seed, Index epoch, Index window) {
  const auto number =
      (static_cast<std::uint64_t>(epoch) << 24) + static_cast<std::uint64_t>(window);
  return RandomStream(seed, kWindowStreams + number);
}

}  // namespace

Index StepsPerEpoch(Index rows, Index batch_size) { return rows / std::min(rows, batch_size); }

Batches::Batches(Index rows, Index batch_size, std::uint64_t seed)
    : rows_(rows), size_(std::min(rows, batch_size)), seed_(seed) {}

const std::vector<Index>& Batches::At(Index step) {
  for (const Drawn& drawn : drawn_) {
    if (drawn.step == step) return drawn.rows;
  }
  Drawn& drawn = drawn_[oldest_];
  oldest_ = 1 - oldest_;
  drawn.step = step;
  drawn.rows.clear();
  const Index per_epoch = StepsPerEpoch(rows_, size_);
  Draw(step / per_epoch, step % per_epoch * size_, &drawn.rows);
  return drawn.rows;
}

// The rows at the places first, first + 1, ... of the epoch.
void Batches::Draw(Index epoch, Index first, std::vector<Index>* rows) {
  if (epoch != epoch_) Permute(epoch);
  if (rows_ <= kMostPermutedRows) {
    rows->assign(order_.begin() + first, order_.begin() + first + size_);
    return;
  }
  while (std::ssize(*rows) < size_) {
    const Index place = first + std::ssize(*rows);
    LoadWindow(epoch, place / kWindowRows);
    const Index begin = place % kWindowRows;
    const Index count = std::min(size_ - std::ssize(*rows), std::ssize(window_rows_) - begin);
    rows->insert(rows->end(), window_rows_.begin() + begin, window_rows_.begin() + begin + count);
  }
}

void Batches::Permute(Index epoch) {
  epoch_ = epoch;
  window_ = -1;
  RandomStream stream(seed_, kEpochStreams + static_cast<std::uint64_t>(epoch));
  if (rows_ > kMostPermutedRows) {
    // The last piece may be short, and only the end of the last window may have room for that.
    const Index whole = rows_ / kPieceRows;
    stream.Permutation(whole, &order_);
    if (rows_ % kPieceRows != 0) order_.push_back(whole);
  } else if (size_ == rows_) {
    order_.resize(static_cast<std::size_t>(rows_));
    std::iota(order_.begin(), order_.end(), Index{0});
  } else {
    stream.Permutation(rows_, &order_);
  }
}

void Batches::LoadWindow(Index epoch, Index window) {
  if (window == window_) return;
  window_ = window;
  std::vector<Index> in_order;
  constexpr Index kPieces = kWindowRows / kPieceRows;
  for (Index i = window * kPieces; i < std::min((window + 1) * kPieces, std::ssize(order_)); ++i) {
    const Index begin = order_[i] * kPieceRows;
    for (Index row = begin; row < std::min(begin + kPieceRows, rows_); ++row)
      in_order.push_back(row);
  }
  StreamOfWindow(seed_, epoch, window).Permutation(std::ssize(in_order), &window_rows_);
  for (Index& row : window_rows_) row = in_order[row];
}

}  // namespace fathom
