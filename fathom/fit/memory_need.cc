#include "fathom/fit/memory_need.h"

namespace fathom {

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
