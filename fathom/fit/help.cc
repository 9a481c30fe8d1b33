#include "fathom/fit/help.h"

#include <memory>
#include <optional>

#include "fathom/data/csv_ranks.h"
#include "fathom/data/dataset_rows.h"
#include "fathom/data/packed_table.h"
#include "fathom/distributed/orders.h"
#include "fathom/fitted/predict_together.h"
#include "fathom/train/train_together.h"

namespace fathom {

void Help(const Communicator& ranks, const std::function<void(const Communicator&)>& help_study) {
  std::optional<PackedShare> share;  // rows that may stay here
  std::optional<PackedTable> table;  // that have stayed
  std::unique_ptr<RowsOnDisk> held;  // as training data
  for (;;) {
    switch (TakeOrder(ranks)) {
      case Order::kGoHome:
        return;
      case Order::kRead:
        HelpReading(ranks, share ? share->sink() : nullptr);
        break;
      case Order::kPack:
        held.reset();
        table.reset();
        share.emplace(ranks);
        break;
      case Order::kPacked:
        table = share->Finish();
        share.reset();
        break;
      case Order::kHold:
        held = RowsOnDisk::Hold(*table);
        break;
      case Order::kRows:
        held->Help();
        break;
      case Order::kTrain:
        HelpTraining(ranks, held.get());
        break;
      case Order::kPredict:
        PredictTogether::Help(ranks);
        break;
      case Order::kStudy:
        FATHOM_CHECK(help_study);
        help_study(ranks);
        break;
    }
  }
}

void DismissHelpers(const Communicator& ranks) { GiveOrder(Order::kGoHome, ranks); }

}  // namespace fathom
