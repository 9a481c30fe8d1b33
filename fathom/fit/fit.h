// From a dataset to a trained model, in one go or over several.
#ifndef FATHOM_FIT_FIT_H_
#define FATHOM_FIT_FIT_H_

#include "fathom/train/checkpoint.h"
#include "fathom/train/control.h"

namespace fathom {

// Fits a deep GP, or a stack of them, to a dataset. Throws Error for data or options that cannot be
// used, NumericalError if no step could be computed.
Model Fit(const Dataset& dataset, const Recipe& recipe, const FitControl& control = {});

// Goes on where the checkpoint was taken and ends with the bits of a training that was never
// stopped. Throws Error if the dataset is not the one that the training began with.
Model Resume(const Dataset& dataset, Checkpoint checkpoint, const FitControl& control = {});

// The start of a further training of `steps` steps (0: as for a new one) from a model that
// is already trained. It has a warm-up and a decay of its own and no time budget, and its batches
// follow those of the first.
Checkpoint StartAgain(Model model, Index steps);

}  // namespace fathom

#endif  // FATHOM_FIT_FIT_H_
