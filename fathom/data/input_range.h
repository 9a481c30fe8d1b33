// The values that a model has seen of each input. Beyond them its predictions rest on nothing but
// the shape that it assumes.
#ifndef FATHOM_DATA_INPUT_RANGE_H_
#define FATHOM_DATA_INPUT_RANGE_H_

#include <vector>

#include "fathom/base/export.h"
#include "fathom/base/types.h"
#include "fathom/data/dataset_rows.h"
#include "fathom/data/schema.h"

namespace fathom FATHOM_PUBLIC {

struct InputRange {
  // [width of the schema] in the units of the file, NaN where all cells are missing; empty where
  // the range is not known.
  Vector low = {}, high = {};

  bool known() const { return low.size() > 0; }
  bool operator==(const InputRange& other) const;
};

// Of the means of the cells; missing ones say nothing.
InputRange FindInputRange(const Moments& inputs);
InputRange FindInputRange(const DatasetRows& rows);
// The range of both tables; not known if one is not.
InputRange Union(const InputRange& a, const InputRange& b);

// With a margin at both ends, in parts of each column's range.
InputRange Widened(InputRange range, double margin);

// Cells beyond the range are moved to its edge.
Moments Clipped(const InputRange& range, Moments inputs);

// [N]: in how many columns of the file each row lies beyond the range. A missing cell lies inside.
// Adds, for each column of the schema, the rows that do to *rows_of_column unless that is null.
Vector CountOutside(const InputRange& range, const Schema& schema, const Moments& inputs,
                    std::vector<Index>* rows_of_column = nullptr);

}  // namespace fathom

#endif  // FATHOM_DATA_INPUT_RANGE_H_
