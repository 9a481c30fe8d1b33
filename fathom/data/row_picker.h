// Which rows of a table can be learnt from. Used by those who make datasets.
#ifndef FATHOM_DATA_ROW_PICKER_H_
#define FATHOM_DATA_ROW_PICKER_H_

#include <cmath>
#include <span>
#include <vector>

#include "fathom/data/schema.h"
#include "fathom/data/table.h"

namespace fathom {

// Sees one row after the other.
class RowPicker {
 public:
  // Keeps references to the table, whose rows are not looked at, and the schema. Throws Error if
  // the table has not all targets.
  // The first row to come is row `first` of the table.
  RowPicker(const Table& head, const Schema& schema, const std::vector<Index>& target_places,
            Index first = 0);

  // Whether the next row is kept: it has a target and a weight above 0. Throws Error for a weight
  // that is negative or missing.
  bool Keep(const double* cells);
  Index kept() const { return kept_; }
  Index seen() const { return seen_; }
  double largest_weight() const { return largest_weight_; }
  double WeightOf(const double* cells) const {
    return weight_place_ < 0 ? 1 : cells[weight_place_];
  }
  // When all rows were seen: adds to *notes what the user should know of those that were left out,
  // and of targets that never vary. Throws Error if no row is left, or a target is too large or too
  // small to be squared.
  void Finish(std::vector<Note>* notes) const;

  // For JoinFacts.
  std::vector<double> ToNumbers() const;
  void Join(std::span<const double> numbers);
  void Clear();

 private:
  struct TargetSpan {
    double low = HUGE_VAL, high = -HUGE_VAL;
    Index known = 0;
    bool varies = false;
    double first = 0;
  };
  const Table& head_;
  const Schema& schema_;
  const std::vector<Index>& target_places_;
  Index first_;
  Index weight_place_ = -1;
  double largest_weight_ = 0;
  Index seen_ = 0, kept_ = 0, without_target_ = 0, incomplete_ = 0;
  std::vector<TargetSpan> targets_;
};

// Their sum in the order of the rows, divided by their number.
double MeanInOrder(const Vector& weights);

}  // namespace fathom

#endif  // FATHOM_DATA_ROW_PICKER_H_
