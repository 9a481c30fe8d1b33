// Predictions for a long table on several ranks: rank 0 deals out pieces of the table, and puts
// what comes back in the order of the rows. A row's prediction does not depend on the rows beside
// it, so the bits are those of one rank.
#ifndef FATHOM_FITTED_PREDICT_TOGETHER_H_
#define FATHOM_FITTED_PREDICT_TOGETHER_H_

#include <vector>

#include "fathom/distributed/communicator.h"
#include "fathom/fitted/prediction_table.h"

namespace fathom {

// At rank 0.
class PredictTogether {
 public:
  // Keeps references to predictor and ranks. `threads` are those of each other rank.
  PredictTogether(const ModelPredictor& predictor, const Communicator& ranks, int threads);
  ~PredictTogether();
  PredictTogether(const PredictTogether&) = delete;
  PredictTogether& operator=(const PredictTogether&) = delete;

  struct Piece {
    Dataset rows;
    PredictOptions options;
  };
  // What PredictTable gives for each piece; at most one per rank. Throws as it does.
  std::vector<Table> Predict(const std::vector<Piece>& pieces,
                             const PredictionColumns& columns) const;

 private:
  const ModelPredictor& predictor_;
  const Communicator& ranks_;
};

// The other ranks, after Order::kPredict: helps until rank 0's object is destroyed.
void HelpPredicting(const Communicator& ranks);

}  // namespace fathom

#endif  // FATHOM_FITTED_PREDICT_TOGETHER_H_
