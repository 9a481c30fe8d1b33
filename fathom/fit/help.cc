#include "fathom/fit/help.h"

#include "fathom/data/csv_ranks.h"
#include "fathom/distributed/orders.h"
#include "fathom/fitted/predict_together.h"
#include "fathom/train/train_together.h"

namespace fathom {

void Help(const Communicator& ranks, const std::function<void(const Communicator&)>& help_study) {
  for (;;) {
    switch (TakeOrder(ranks)) {
      case Order::kGoHome:
        return;
      case Order::kRead:
        HelpReading(ranks);
        break;
      case Order::kTrain:
        HelpTraining(ranks);
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
