// A mixture of networks of several kinds, each of which some tables call for: moments between the
// layers, sampled paths, learnt points, one layer more, no hidden layer. Every kind is first fitted
// to nine tenths of the rows; how well it predicts the others decides its share. Those with a share
// worth having then go on with all rows. With Gaussian noise, one of them joins a second time with
// more of it, for outliers.
#ifndef FATHOM_ENSEMBLE_ENSEMBLE_H_
#define FATHOM_ENSEMBLE_ENSEMBLE_H_

#include "fathom/train/training.h"

namespace fathom {

// What Fit and Resume do for recipes that ask for an ensemble. A checkpoint holds the networks that
// are done beside the one in training.
Model FitEnsemble(const Dataset& dataset, const Recipe& recipe, const FitControl& control,
                  const TrainingContext& context);
Model ResumeEnsemble(const Dataset& dataset, Checkpoint checkpoint, const FitControl& control);

}  // namespace fathom

#endif  // FATHOM_ENSEMBLE_ENSEMBLE_H_
