// Predictions for a long table, and what their scores are made of, on several ranks: rank 0 deals
// out pieces of the table, and puts what comes back in the order of the rows. A row's prediction
// does not depend on the rows beside it, so the bits are those of one rank.
#ifndef FATHOM_FITTED_PREDICT_TOGETHER_H_
#define FATHOM_FITTED_PREDICT_TOGETHER_H_

#include <functional>
#include <vector>

#include "fathom/base/threads.h"
#include "fathom/distributed/communicator.h"
#include "fathom/fitted/prediction_table.h"

namespace fathom {

// At rank 0.
class PredictTogether {
 public:
  // Keeps references to predictor and ranks. `threads` are those of each rank.
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
  // What EachEvaluationSums adds up for each piece; at most one per rank. Throws as PredictTargets
  // does.
  std::vector<Matrix> ScoreParts(const std::vector<Piece>& pieces) const;

  // The other ranks, after Order::kPredict: helps until rank 0's object is destroyed.
  static void Help(const Communicator& ranks);

 private:
  struct Work;
  // Has the other ranks work on their pieces while `own` does that of this one; one result per
  // piece.
  std::vector<Matrix> Do(const Work& work, const std::vector<Piece>& pieces,
                         const std::function<Matrix()>& own) const;

  const ModelPredictor& predictor_;
  const Communicator& ranks_;
  ThreadPool pool_;
};

}  // namespace fathom

#endif  // FATHOM_FITTED_PREDICT_TOGETHER_H_
