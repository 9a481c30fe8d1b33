// Columns brought to mean 0 and standard deviation 1, and predictions brought back to the file's
// units.
#ifndef FATHOM_DATA_STANDARDIZE_H_
#define FATHOM_DATA_STANDARDIZE_H_

#include "fathom/base/export.h"
#include "fathom/base/types.h"
#include "fathom/data/column_warps.h"
#include "fathom/distribution/prediction.h"

namespace fathom FATHOM_PUBLIC {

// One per set of columns; the training data determine it.
struct Scaler {
  Vector mean;  // [D], of the cells that are not missing
  // [D], population standard deviation. 1 for a column that never varied, which so maps to 0: it
  // says nothing, and dividing by its rounding noise would turn that into a signal.
  Vector scale;
  // [D], the variance that stands in for a missing cell, in standardised units: 1, the column's
  // own, or 0 if the column never varied, so that the cell is as good as known.
  Vector missing_var;
  // [D, R], or empty: the standardised columns are then turned into R uncorrelated ones; see
  // whiten.h.
  Matrix directions = {};
  // Of skewed columns, further ones behind the others; see column_warps.h. Not together with
  // directions.
  ColumnWarps warps = {};

  bool Varies(Index column) const { return missing_var[column] > 0; }
  // Number of columns that StandardizeInputs returns.
  Index outputs() const {
    return directions.size() == 0 ? mean.size() + warps.size() : directions.cols();
  }
  bool operator==(const Scaler& other) const;
};

// Ignores NaN. `weights` [rows], or empty: how many rows each row counts as. A column without any
// number gets mean 0, scale 1 and missing_var 0. Keeps its accuracy if the mean is huge beside the
// deviation, and does not overflow before the numbers themselves do.
Scaler FitScaler(const Matrix& values, const Vector& weights = Vector());

// (x - mean) / scale with variance var / scale^2; a missing cell (NaN mean) becomes the training
// column's own distribution, N(0, missing_var). Along `directions`, where there are any, the
// variances of cells are added up and their covariances neglected. The variance of a warped cell is
// that of the cell times the squared slope.
Moments StandardizeInputs(const Scaler& scaler, const Moments& inputs);
Matrix StandardizeTargets(const Scaler& scaler, const Matrix& targets);  // NaN stays NaN

// A prediction of standardised targets, in the units of the file.
Prediction Unscale(const Scaler& scaler, Prediction prediction);

}  // namespace fathom

#endif  // FATHOM_DATA_STANDARDIZE_H_
