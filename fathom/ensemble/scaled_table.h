// A table as the members of an ensemble see it: scaled once for all, and divided into folds.
#ifndef FATHOM_ENSEMBLE_SCALED_TABLE_H_
#define FATHOM_ENSEMBLE_SCALED_TABLE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "fathom/data/dataset.h"
#include "fathom/data/split.h"
#include "fathom/data/standardize.h"
#include "fathom/distribution/target_shape.h"
#include "fathom/recipe/recipe.h"

namespace fathom {

struct ScaledTable {
  Scaler input_scaler, target_scaler;
  Moments x;                              // [N, D]
  Matrix y;                               // [N, targets]; classes as they are, NaN where missing
  Vector weights;                         // [N] or empty
  std::vector<std::int32_t> copies;       // [N], see FindCopies
  std::vector<Split> folds;               // copies of a row are held out together
  std::vector<std::int32_t> fold_of_row;  // [N]
  // If the target is given in steps, y is the latent z (target_shape.h), and this [N, 2] says how
  // far z may lie below and above y. Else empty.
  Matrix cell;

  Index rows() const { return x.rows(); }
  Index targets() const { return y.cols(); }
  bool AllCertain() const { return (x.var.array() == 0).all(); }  // no cell has a variance
  std::span<const double> weight_span() const {
    return {weights.data(), static_cast<std::size_t>(weights.size())};
  }
};

ScaledTable ScaleTable(const Dataset& dataset, const Recipe& recipe);

// These rows of it, without copies and folds.
ScaledTable RowsOf(const ScaledTable& table, const std::vector<Index>& rows);

// Tells the table that its target, which was `observed` in the file, is given in steps.
void AddCells(const TargetShape& shape, const Vector& observed, ScaledTable* table);

}  // namespace fathom

#endif  // FATHOM_ENSEMBLE_SCALED_TABLE_H_
