// The nearest of many rows by looking at all of them, several at a time.
#ifndef FATHOM_NEIGHBOUR_SCAN_H_
#define FATHOM_NEIGHBOUR_SCAN_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "fathom/base/aligned.h"
#include "fathom/base/types.h"

namespace fathom {

// The m nearest rows so far, nearest first; of equally near ones, the first.
class NearestList {
 public:
  explicit NearestList(Index m) : most_(static_cast<std::size_t>(m)) { found_.reserve(most_ + 1); }

  // What must be undercut to enter the list.
  double worst() const {
    return found_.size() < most_ ? std::numeric_limits<double>::infinity() : found_.back().distance;
  }
  void Offer(double distance, std::int32_t row) {
    if (found_.size() == most_ && !(Entry{distance, row} < found_.back())) return;
    std::size_t place = found_.size();
    found_.push_back({distance, row});
    for (; place > 0 && Entry{distance, row} < found_[place - 1]; --place)
      found_[place] = found_[place - 1];
    found_[place] = {distance, row};
    if (found_.size() > most_) found_.pop_back();
  }
  // The rows, into memory for m of them; what is not there is left as it is.
  void Write(std::int32_t* rows) const {
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
  std::size_t most_;
  std::vector<Entry> found_;
};

// Rows in blocks whose columns lie side by side, for vector instructions.
class BlockedRows {
 public:
  explicit BlockedRows(const Matrix& rows);
  // Offers all rows that are near enough and not left out. The distance of a row does not depend on
  // the others.
  void Scan(const double* query, NearestList* nearest,
            const std::function<bool(std::int32_t)>& left_out) const;

 private:
  Index rows_, columns_;
  AlignedBuffer values_;  // [blocks][columns][kSimdPadding]
};

}  // namespace fathom

#endif  // FATHOM_NEIGHBOUR_SCAN_H_
