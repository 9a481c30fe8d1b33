// How several ranks train one network: rank 0 runs the training, and the others sum over rows when
// its engine asks.
#ifndef FATHOM_TRAIN_TRAIN_TOGETHER_H_
#define FATHOM_TRAIN_TRAIN_TOGETHER_H_

#include <memory>

#include "fathom/distributed/communicator.h"
#include "fathom/train/checkpoint.h"
#include "fathom/train/engine.h"

namespace fathom {

// The engine of a training that rank 0 begins or goes on with. The other ranks learn of it, and
// help until it is destroyed. Keeps references to data, ranks and pool. Throws as NewEngine and
// CheckRanks do.
std::unique_ptr<Engine> TrainTogether(const Checkpoint& run, const EngineData& data,
                                      const Communicator& ranks, const ThreadPool& pool);

// The other ranks, after Order::kTrain: helps in one training. `held` are the rows that were left
// with this rank, if any were.
void HelpTraining(const Communicator& ranks, const DatasetRows* held);

}  // namespace fathom

#endif  // FATHOM_TRAIN_TRAIN_TOGETHER_H_
