// Skewed columns, a second time along a curve that makes them normal. A column such as an age from
// 1 to 365 days has most of its rows in a small part of its range, where a function of it changes
// fast; a kernel with one lengthscale cannot follow both parts. Beside the column as it is, its
// normal scores let a lengthscale be short among the many and long among the few.
#ifndef FATHOM_DATA_COLUMN_WARPS_H_
#define FATHOM_DATA_COLUMN_WARPS_H_

#include <vector>

#include "fathom/base/enum_names.h"
#include "fathom/base/export.h"
#include "fathom/base/types.h"

namespace fathom FATHOM_PUBLIC {

enum class Warping {
  kAuto,   // an ensemble for numbers decides by rows that were left out; otherwise never
  kNever,  // columns as they are
  kAlways,
};
constexpr auto NamesOf(Warping) {
  return std::to_array<EnumName<Warping>>(
      {{Warping::kAuto, "auto"}, {Warping::kNever, "never"}, {Warping::kAlways, "always"}});
}

// W curves, each straight between K = kWarpKnots knots; beyond them the slope is 1, that of the
// standardised column.
inline constexpr Index kWarpKnots = 32;
struct ColumnWarps {
  std::vector<Index> columns;  // [W], which column each is a curve of
  Matrix knots;                // [W, K], standardised, not falling along a row
  Matrix scores;               // [W, K], likewise

  Index size() const { return static_cast<Index>(columns.size()); }
  bool operator==(const ColumnWarps& other) const;
};

// The curve at a standardised value, and its slope there.
struct WarpedValue {
  double value = 0;
  double slope = 1;
};
WarpedValue WarpAt(const ColumnWarps& warps, Index w, double standardised);

// Curves through the normal scores of the columns of x [N, D], standardised, that are not normal
// enough as they are: those whose scores have a squared correlation with them below 0.95. That is
// neither normal nor uniform columns. Columns with fewer than five different values have none.
// Cells with `known` false are ignored.
ColumnWarps FitWarps(const Matrix& x,
                     const Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic>& known);

// Throws Error with the reason unless they are curves of so many columns.
void CheckWarps(const ColumnWarps& warps, Index columns);

}  // namespace fathom

#endif  // FATHOM_DATA_COLUMN_WARPS_H_
