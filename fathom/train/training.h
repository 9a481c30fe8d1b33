// The training of one network, from its start or a checkpoint to its end.
#ifndef FATHOM_TRAIN_TRAINING_H_
#define FATHOM_TRAIN_TRAINING_H_

#include <vector>

#include "fathom/base/stopwatch.h"
#include "fathom/data/dataset_rows.h"
#include "fathom/train/checkpoint.h"
#include "fathom/train/control.h"

namespace fathom {

// What the checkpoints of a training hold beside its network.
struct TrainingContext {
  Schema schema;
  TrainingData data;
  Recipe asked = {};                      // what the fit was asked for
  std::vector<Member> done = {};          // networks of the same ensemble
  Stopwatch* since_checkpoint = nullptr;  // shared by the networks of an ensemble; may be null
  // Whether the network looks for the columns that matter. In an ensemble other members do.
  bool screen = false;
};

// Trains the network of the recipe. The summary of the member says how the training ended, which
// may be a numerical failure after some steps. Throws Error for data or options that cannot be
// used, NumericalError if no step could be computed.
Member TrainNetwork(const DatasetRows& rows, const Recipe& recipe, const FitControl& control,
                    const TrainingContext& context);
Member TrainNetwork(const Dataset& dataset, const Recipe& recipe, const FitControl& control,
                    const TrainingContext& context);
// A checkpoint from which the network of a member is trained for so many more steps, on a schedule
// of their own. The caller says of what table.
Checkpoint TrainFurther(const Member& member, Index steps);
// Goes on from a checkpoint. Takes the dataset to be the one that the training began with.
Member ContinueTraining(const DatasetRows& rows, Checkpoint checkpoint, const FitControl& control,
                        Stopwatch* since_checkpoint = nullptr);
Member ContinueTraining(const Dataset& dataset, Checkpoint checkpoint, const FitControl& control,
                        Stopwatch* since_checkpoint = nullptr);

// Whether the noise of the observations is so small that there is more to be learnt than usual.
bool LeavesLittleNoise(const DeepGp& network);

// Sets the number of steps if none is given: by the rows, or as many as fit into the time budget.
void ResolveSteps(Index rows, Recipe* recipe);

}  // namespace fathom

#endif  // FATHOM_TRAIN_TRAINING_H_
