// A deep GP between its start and its place in a model.
#ifndef FATHOM_TRAIN_NETWORK_IN_TRAINING_H_
#define FATHOM_TRAIN_NETWORK_IN_TRAINING_H_

#include "fathom/fitted/model.h"
#include "fathom/model/deep_gp.h"

namespace fathom {

struct NetworkInTraining {
  DeepGp network;
  Scaler input_scaler, target_scaler;
  Recipe recipe;
  TrainingSummary summary;
};

// The network as a member, of weight 1.
Member ToMember(NetworkInTraining network);
// The deep GP of a member, to be trained further. Throws Error if its expert is of another kind.
NetworkInTraining FromMember(const Member& member);

}  // namespace fathom

#endif  // FATHOM_TRAIN_NETWORK_IN_TRAINING_H_
