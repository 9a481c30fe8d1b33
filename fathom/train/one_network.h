// The training of one network, of which a fit consists: of one such, or of several that are
// stacked.
#ifndef FATHOM_TRAIN_ONE_NETWORK_H_
#define FATHOM_TRAIN_ONE_NETWORK_H_

#include <string>
#include <vector>

#include "fathom/base/stopwatch.h"
#include "fathom/train/checkpoint.h"
#include "fathom/train/control.h"

namespace fathom {

// What the networks of a stack have in common.
struct OfStack {
  std::string fingerprint;                // of the whole table
  std::vector<Model> companions;          // of the network, and so of its checkpoints
  Stopwatch* since_checkpoint = nullptr;  // whichever network was the last to write one
};

// Like Fit and Resume, but for the network of the recipe alone.
Model FitOneNetwork(const Dataset& dataset, const Recipe& recipe, const FitControl& control,
                    OfStack stack = {});
// Takes the dataset to be the one that the training began with.
Model ResumeOneNetwork(const Dataset& dataset, Checkpoint checkpoint, const FitControl& control,
                       Stopwatch* since_checkpoint = nullptr);

// Whether the noise of the observations is so small that there is more to be learnt than usual.
bool LeavesLittleNoise(const DeepGp& network);

// Sets the number of steps if none is given: by the rows, or as many as fit into the time budget.
void ResolveSteps(Index rows, Recipe* recipe);

}  // namespace fathom

#endif  // FATHOM_TRAIN_ONE_NETWORK_H_
