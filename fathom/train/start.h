// From a dataset to a network that is ready to be trained on it.
#ifndef FATHOM_TRAIN_START_H_
#define FATHOM_TRAIN_START_H_

#include "fathom/data/dataset_rows.h"
#include "fathom/train/training_rows.h"

namespace fathom {

// Chooses the likelihood, the scalers and, where it pays, whitened directions; then initialises the
// network. The recipe of the result has all choices made. Throws Error for targets that the
// likelihood cannot explain. With `screen`, numbers start from the columns that ScreenColumns
// finds.
NetworkInTraining StartNetwork(const DatasetRows& rows, const Recipe& recipe, bool screen);

// Standardises the inputs by a scaler that it fits to them, with whitened directions where
// recipe.whitening asks for them or, if it is kAuto, where targets y [N, targets] seem to hide in
// small differences. No columns of y: they are not whitened by kAuto. Skewed columns that are not
// whitened are warped where recipe.warping is kAlways, and the rows are in memory.
Moments FitInputs(const Dataset& dataset, const Matrix& y, const Recipe& recipe, Scaler* scaler);

}  // namespace fathom

#endif  // FATHOM_TRAIN_START_H_
