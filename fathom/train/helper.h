// How several ranks train one network: rank 0 runs the training, and the others sum over rows when
// its engine asks.
#ifndef FATHOM_TRAIN_HELPER_H_
#define FATHOM_TRAIN_HELPER_H_

#include <memory>

#include "fathom/distributed/communicator.h"
#include "fathom/train/checkpoint.h"
#include "fathom/train/engine.h"

namespace fathom {

// The engine of a training that rank 0 begins or goes on with. The other ranks learn of it, and
// help until it is destroyed. Keeps references to data, ranks and pool. Throws as NewEngine and
// CheckRanks do.
std::unique_ptr<Engine> StartTogether(const Checkpoint& run, const EngineData& data,
                                      const Communicator& ranks, const ThreadPool& pool);

// What every rank but the first does from beginning to end: helps in one training after another,
// until rank 0 calls DismissHelpers.
void HelpToTrain(const Communicator& ranks);
void DismissHelpers(const Communicator& ranks);

}  // namespace fathom

#endif  // FATHOM_TRAIN_HELPER_H_
