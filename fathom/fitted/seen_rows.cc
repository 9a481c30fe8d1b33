#include "fathom/fitted/seen_rows.h"

#include <bit>

#include "fathom/base/error.h"

namespace fathom {

namespace {

// FNV-1a over the cells; + 0.0 turns -0 into 0, which equals it.
std::uint64_t HashOf(const Matrix& x, Index n) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (Index c = 0; c < x.cols(); ++c) {
    hash ^= std::bit_cast<std::uint64_t>(x(n, c) + 0.0);
    hash *= 0x100000001b3;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

SeenRowsIndex::SeenRowsIndex(const SeenRows& rows) : rows_(rows) {
  by_hash_.reserve(static_cast<std::size_t>(rows.x.rows()));
  for (Index n = 0; n < rows.x.rows(); ++n) by_hash_.emplace(HashOf(rows.x, n), n);
}

Index SeenRowsIndex::Find(const Moments& x, Index n) const {
  if ((x.var.row(n).array() != 0).any()) return -1;
  const auto [first, last] = by_hash_.equal_range(HashOf(x.mean, n));
  for (auto it = first; it != last; ++it) {
    if ((rows_.x.row(it->second).array() == x.mean.row(n).array()).all()) return it->second;
  }
  return -1;
}

void CheckSeenRows(const SeenRows& rows, Index inputs, Index targets) {
  const Index G = rows.x.rows();
  const bool fits = rows.x.cols() == inputs && rows.mean.rows() == G && rows.var.rows() == G &&
                    rows.mean.cols() == targets && rows.var.cols() == targets;
  if (!fits || !rows.x.allFinite() || !rows.mean.allFinite() || !rows.var.allFinite() ||
      (rows.var.array() <= 0).any())
    ThrowError("the rows that its calibration has seen do not fit the model");
}

}  // namespace fathom
