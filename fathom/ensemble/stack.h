// A mixture of models of several kinds, each of which some tables call for: moments between the
// layers, sampled paths, learnt points, one layer more, no hidden layer. Every kind is first fitted
// to nine tenths of the rows; how well it predicts the others decides its share. Those with a share
// worth having then go on with all rows. With Gaussian noise, one of them stands there a second
// time with more of it, for outliers.
#ifndef FATHOM_ENSEMBLE_STACK_H_
#define FATHOM_ENSEMBLE_STACK_H_

#include "fathom/train/checkpoint.h"
#include "fathom/train/control.h"

namespace fathom {

// For recipes that ask for a stack: what Fit and Resume do then. The checkpoint of a stack holds
// the networks that are done as companions of the one in training.
Model FitStack(const Dataset& dataset, const Recipe& recipe, const FitControl& control);
Model ResumeStack(const Dataset& dataset, Checkpoint checkpoint, const FitControl& control);

}  // namespace fathom

#endif  // FATHOM_ENSEMBLE_STACK_H_
