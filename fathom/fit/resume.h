// Trainings that go on, for those who look at or change the checkpoint in between.
#ifndef FATHOM_FIT_RESUME_H_
#define FATHOM_FIT_RESUME_H_

#include "fathom/fit/fit.h"
#include "fathom/train/checkpoint.h"

namespace fathom {

// Resume, from a checkpoint that is loaded.
Model Resume(const Dataset& dataset, Checkpoint checkpoint, const FitControl& control = {});
Model Resume(const DatasetRows& rows, Checkpoint checkpoint, const FitControl& control = {});

// The start of a further training of a model of one member; see Update. Its batches follow those of
// the first training.
Checkpoint StartAgain(const Model& model, Index steps);

}  // namespace fathom

#endif  // FATHOM_FIT_RESUME_H_
