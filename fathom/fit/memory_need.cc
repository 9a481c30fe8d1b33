#include "fathom/fit/memory_need.h"

#include "fathom/base/error.h"

namespace fathom {

void CheckRowsMayBeElsewhere(const Recipe& recipe) {
  if (recipe.stack == Stacking::kAlways) {
    ThrowError(
        "an ensemble needs all rows in memory, where these do not fit; use stack 'never', or ",
        "give more memory");
  }
  if (recipe.inference != Inference::kAep) {
    ThrowError("inference 'ep' and 'sep' need all rows in memory, where these do not fit; use ",
               "'aep', or give more memory");
  }
  if (recipe.warping == Warping::kAlways) {
    ThrowError("warping 'always' sorts whole columns in memory, where they do not fit; use 'auto' ",
               "or 'never', or give more memory");
  }
}

double MemoryNeed(const DatasetRows& rows, const Recipe& recipe) {
  const auto inputs = static_cast<double>(rows.head().inputs().cols());
  const auto targets = static_cast<double>(rows.schema().targets.size());
  // Means and variances of the inputs, as they are and scaled; the targets likewise; weights, row
  // numbers and the order of the rows.
  double numbers = 4 * inputs + 2 * targets + 4;
  // Beside these, an ensemble has rows of folds, neighbours, and what each member says of each row.
  if (recipe.stack != Stacking::kNever) numbers += 12 * inputs + 200 * targets;
  return kLeastMemory + sizeof(double) * numbers * static_cast<double>(rows.rows());
}

}  // namespace fathom
