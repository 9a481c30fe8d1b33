// The nearest of many rows. Rows that stand close together share a leaf with a box around it; only
// leaves whose box is near enough are looked at, several rows at a time.
#ifndef FATHOM_NEIGHBOUR_SCAN_H_
#define FATHOM_NEIGHBOUR_SCAN_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "fathom/base/aligned.h"
#include "fathom/base/types.h"

namespace fathom {

// Collects the m nearest rows; of equally near ones, the first. Rows are kept as they come, and
// sorted out whenever there are twice as many as wanted.
class NearestList {
 public:
  explicit NearestList(Index m) : most_(static_cast<std::size_t>(m)) { found_.reserve(2 * most_); }

  // Rows that are further away are not among the nearest.
  double worst() const { return worst_; }
  void Offer(double distance, std::int32_t row) {
    if (!(distance <= worst_)) return;
    found_.push_back({distance, row});
    if (found_.size() >= 2 * most_) KeepNearest();
  }
  // Writes the rows, nearest first, to memory for m of them; places without a row stay as they are.
  void Write(std::int32_t* rows) {
    KeepNearest();
    std::sort(found_.begin(), found_.end());
    for (std::size_t i = 0; i < found_.size(); ++i) rows[i] = found_[i].row;
  }

 private:
  struct Entry {
    double distance;
    std::int32_t row;
    bool operator<(const Entry& other) const {
      return distance != other.distance ? distance < other.distance : row < other.row;
    }
  };

  void KeepNearest() {
    if (most_ == 0) found_.clear();
    if (found_.size() < most_ || most_ == 0) return;
    const auto last = found_.begin() + static_cast<std::ptrdiff_t>(most_ - 1);
    std::nth_element(found_.begin(), last, found_.end());
    worst_ = last->distance;
    found_.resize(most_);
  }

  std::size_t most_;
  double worst_ = std::numeric_limits<double>::infinity();
  std::vector<Entry> found_;
};

// A copy of some rows of a matrix, in the order of a k-d tree. Immutable.
class RowLeaves {
 public:
  // Halves the rows at the median of the column in which they differ most, again and again.
  RowLeaves(const Matrix& places, std::vector<std::int32_t> rows);

  // Offers all rows that are near enough and not left out. The distance of a row is a sum over its
  // columns in their order, and does not depend on the other rows.
  void Scan(const double* query, NearestList* nearest,
            const std::function<bool(std::int32_t)>& left_out) const;

  Index num_leaves() const { return num_leaves_; }

 private:
  void Split(const Matrix& places, std::span<std::int32_t> rows);
  void Fill(const Matrix& places);

  Index columns_;
  std::vector<std::int32_t> rows_;  // their places in the matrix, leaf after leaf
  Index num_leaves_;
  AlignedBuffer values_;  // [blocks][columns][kSimdPadding rows]
  AlignedBuffer boxes_;   // [leaf blocks][columns][least, most][kSimdPadding leaves]
};

}  // namespace fathom

#endif  // FATHOM_NEIGHBOUR_SCAN_H_
