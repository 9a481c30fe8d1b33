// A training that is not finished, as a file: all that is needed to go on to the same bits.
#ifndef FATHOM_TRAIN_CHECKPOINT_H_
#define FATHOM_TRAIN_CHECKPOINT_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fathom/fitted/model.h"
#include "fathom/model/packing.h"
#include "fathom/optimize/minimize.h"
#include "fathom/train/network_in_training.h"

namespace fathom {

// What EP and SEP keep beside the parameters.
struct FactorState {
  std::map<std::string, Matrix> arrays;
  Index updates = 0;  // so far
};

struct Checkpoint {
  Schema schema;
  TrainingData data;
  Recipe asked = {};              // of the whole fit; in an ensemble not that of the network
  std::vector<Member> done = {};  // networks of the same ensemble whose training is finished
  NetworkInTraining network;      // as good as it is so far; its recipe is the one to go on with
  // The network holds the same parameters after exp(), so these cannot be taken from there.
  MinimizeState state = MinimizeState();
  FactorState factors = {};
  bool lengthened = false;  // goes on for low_noise_steps of its recipe
};

// What the optimiser of such a training moves.
Packing PackingOf(const Recipe& recipe);

// A model file with the optimiser's arrays beside the model's: LoadModel reads it too, as the
// equal mixture of the networks so far. Its last member is the network in training. Save is all or
// nothing. Load throws Error with file and reason for anything that is not a whole, consistent
// checkpoint.
void SaveCheckpoint(const Checkpoint& checkpoint, const std::string& path);
Checkpoint LoadCheckpoint(const std::string& path);

// The same bytes without a file; `name` stands for the path in messages.
std::string CheckpointToBytes(const std::string& name, const Checkpoint& checkpoint);
Checkpoint CheckpointFromBytes(const std::string& name, std::string_view bytes);

}  // namespace fathom

#endif  // FATHOM_TRAIN_CHECKPOINT_H_
