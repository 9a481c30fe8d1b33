#include "fathom/train/helper.h"

#include <cstdint>
#include <string>

namespace fathom {

namespace {

enum class Order : std::int64_t { kGoHome, kTrain };

void Give(Order order, const Communicator& ranks) { ranks.Broadcast(std::span(&order, 1)); }

Order Take(const Communicator& ranks) {
  Order order = Order::kGoHome;
  ranks.Broadcast(std::span(&order, 1));
  return order;
}

}  // namespace

std::unique_ptr<Engine> StartTogether(const Checkpoint& run, const EngineData& data,
                                      const Communicator& ranks, const ThreadPool& pool) {
  const NetworkInTraining& training = run.network;
  CheckRanks(training.recipe, ranks);
  if (ranks.size() > 1) {
    Checkpoint sent = run;
    sent.done.clear();
    std::string bytes = CheckpointToBytes("the training", sent);
    Give(Order::kTrain, ranks);
    ranks.Broadcast(&bytes);
  }
  return NewEngine(training.network, data, training.recipe, ranks, pool);
}

void HelpToTrain(const Communicator& ranks) {
  while (Take(ranks) == Order::kTrain) {
    std::string bytes;
    ranks.Broadcast(&bytes);
    const NetworkInTraining training = CheckpointFromBytes("the training", bytes).network;
    const ThreadPool pool(training.recipe.threads);
    HelpEngine(training.network, training.recipe, ranks, pool);
  }
}

void DismissHelpers(const Communicator& ranks) { Give(Order::kGoHome, ranks); }

}  // namespace fathom
