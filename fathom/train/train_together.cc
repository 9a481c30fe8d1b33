#include "fathom/train/train_together.h"

#include <optional>
#include <string>

#include "fathom/base/error.h"
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
    bool in_place = data.rows.ranks().size() > 1;
    GiveOrder(Order::kTrain, ranks);
    ranks.Broadcast(&bytes);
    ranks.Broadcast(std::span(&in_place, 1));
  }
  return NewEngine(training.network, data, training.recipe, ranks, pool);
}

void HelpTraining(const Communicator& ranks, const DatasetRows* held) {
  std::string bytes;
  bool in_place = false;
  ranks.Broadcast(&bytes);
  ranks.Broadcast(std::span(&in_place, 1));
  const NetworkInTraining training = CheckpointFromBytes("the training", bytes).network;
  const ThreadPool pool(training.recipe.threads);
  std::optional<TrainingRows> rows;
  if (in_place) {
    FATHOM_CHECK(held != nullptr);
    rows.emplace(*held, training);
  }
  HelpEngine(training.network, in_place ? &*rows : nullptr, training.recipe, ranks, pool);
}

}  // namespace fathom
