#include "fathom/data/row_choice.h"

#include <algorithm>
#include <bit>

#include "fathom/base/error.h"

namespace fathom {

namespace {

constexpr Index kWordBits = 64;

}  // namespace

void RowChoice::Add(bool chosen) {
  if (rows_ % kWordBits == 0) {
    if (std::ssize(words_) % kGroup == 0) before_.push_back(chosen_);
    words_.push_back(0);
  }
  if (chosen) {
    words_.back() |= std::uint64_t{1} << (rows_ % kWordBits);
    ++chosen_;
  }
  ++rows_;
}

Index RowChoice::Find(Index n) const {
  FATHOM_CHECK(n >= 0 && n < chosen_);
  if (chosen_ == rows_) return n;
  const auto group = std::upper_bound(before_.begin(), before_.end(), n) - before_.begin() - 1;
  Index left = n - before_[group];
  Index word = group * kGroup;
  while (left >= std::popcount(words_[word])) left -= std::popcount(words_[word++]);
  std::uint64_t bits = words_[word];
  for (; left > 0; --left) bits &= bits - 1;  // takes out the lowest one
  return word * kWordBits + std::countr_zero(bits);
}

}  // namespace fathom
