// What is known of rows whose inputs are, cell by cell, those of training rows. In tables with
// copies of rows, a new row with known inputs is likely one more copy, and its target is known far
// better than neighbours can tell. Which tables these are, fathom/ensemble/replicates.h decides.
#ifndef FATHOM_FITTED_SEEN_ROWS_H_
#define FATHOM_FITTED_SEEN_ROWS_H_

#include <cstdint>
#include <unordered_map>

#include "fathom/base/types.h"

namespace fathom {

// In scaled units. Rows differ in their inputs.
struct SeenRows {
  Matrix x;          // [G, D]
  Matrix mean, var;  // [G, targets], of a further row with the same inputs
};

// Finds rows by their inputs. Keeps a reference; any number of threads may ask at once.
class SeenRowsIndex {
 public:
  explicit SeenRowsIndex(const SeenRows& rows);
  // The number of the row with the inputs of row n of x, or -1. Cells that are not known exactly
  // are never the same.
  Index Find(const Moments& x, Index n) const;

 private:
  const SeenRows& rows_;
  std::unordered_multimap<std::uint64_t, Index> by_hash_;
};

// Throws Error with the reason unless they fit a model of so many scaled inputs and targets.
void CheckSeenRows(const SeenRows& rows, Index inputs, Index targets);

}  // namespace fathom

#endif  // FATHOM_FITTED_SEEN_ROWS_H_
