// What Fit makes of a table by default. Networks of several kinds are trained on four fifths of the
// rows, five times, so that every row is predicted by a network that has not seen it. For numbers,
// neighbour GPs learn what a straight line and each kind of network leave over, again predicting
// every row without itself. The left-out rows then decide how much each member counts in the mean
// and how far off that mean is: see blend.h and calibration.h. For classes they decide the shares
// of the kinds in a mixture.
#ifndef FATHOM_ENSEMBLE_ENSEMBLE_H_
#define FATHOM_ENSEMBLE_ENSEMBLE_H_

#include "fathom/train/training.h"

namespace fathom {

// What Fit and Resume do for recipes that ask for an ensemble. A checkpoint holds the networks that
// are done beside the one in training; all else is made anew from them.
Model FitEnsemble(const Dataset& dataset, const Recipe& recipe, const FitControl& control,
                  const TrainingContext& context);
Model ResumeEnsemble(const Dataset& dataset, Checkpoint checkpoint, const FitControl& control);

}  // namespace fathom

#endif  // FATHOM_ENSEMBLE_ENSEMBLE_H_
