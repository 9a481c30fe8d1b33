#include "fathom/train/train_together.h"

#include <string>

#include "fathom/distributed/orders.h"

namespace fathom {

std::unique_ptr<Engine> TrainTogether(const Checkpoint& run, const EngineData& data,
                                      const Communicator& ranks, const ThreadPool& pool) {
  const NetworkInTraining& training = run.network;
  CheckRanks(training.recipe, ranks);
  if (ranks.size() > 1) {
    Checkpoint sent = run;
    sent.done.clear();
    std::string bytes = CheckpointToBytes("the training", sent);
    GiveOrder(Order::kTrain, ranks);
    ranks.Broadcast(&bytes);
  }
  return NewEngine(training.network, data, training.recipe, ranks, pool);
}

void HelpTraining(const Communicator& ranks) {
  std::string bytes;
  ranks.Broadcast(&bytes);
  const NetworkInTraining training = CheckpointFromBytes("the training", bytes).network;
  const ThreadPool pool(training.recipe.threads);
  HelpEngine(training.network, training.recipe, ranks, pool);
}

}  // namespace fathom
