#include "fathom/fitted/predict_together.h"

#include <gtest/gtest.h>

#include <numeric>

#include "fathom/base/random.h"
#include "fathom/evaluate/evaluation.h"
#include "fathom/fit/fit.h"
#include "fathom/fit/help.h"
#include "tests/support/ranks_in_threads.h"

namespace fathom {
namespace {

// Three pieces of different lengths on more, as many or fewer ranks.
TEST(PredictTogether, GivesWhatEachPieceGivesAlone) {
  RandomStream stream(2);
  DatasetParts parts;
  parts.schema = NumericSchema({"a", "b"}, {"y"});
  parts.inputs = Moments::Certain(stream.NormalMatrix(60, 2));
  parts.targets = stream.NormalMatrix(60, 1);
  parts.inputs.mean(3, 1) = parts.inputs.var(3, 1) = std::nan("");
  const Dataset dataset = parts;
  Recipe recipe;
  recipe.stack = Stacking::kNever;
  recipe.optimizer.steps = 2;
  recipe.architecture.inducing = {4};
  const ModelPredictor predictor(Fit(dataset, recipe), 1);
  const PredictionColumns columns{.quantiles = {0.1, 0.9}, .outside = true};
  const auto piece = [&](Index first, Index count) {
    std::vector<Index> rows(static_cast<std::size_t>(count));
    std::iota(rows.begin(), rows.end(), first);
    return PredictTogether::Piece{Subset(dataset, rows), {.samples = 3, .first_row = first}};
  };
  const std::vector<PredictTogether::Piece> pieces = {piece(0, 20), piece(20, 1), piece(21, 39)};
  for (const int size : {3, 5}) {
    RanksInThreads(size).Run([&](const Communicator& ranks) {
      if (ranks.rank() != 0) {
        Help(ranks);
        return;
      }
      {
        const PredictTogether together(predictor, ranks, 1);
        for (int repeat = 0; repeat < 2; ++repeat) {
          const std::vector<Table> tables = together.Predict(pieces, columns);
          ASSERT_EQ(tables.size(), pieces.size());
          for (std::size_t i = 0; i < pieces.size(); ++i) {
            const Table alone = PredictTable(predictor, pieces[i].rows, pieces[i].options, columns);
            EXPECT_EQ(tables[i].columns, alone.columns);
            EXPECT_EQ(tables[i].values, alone.values);
          }
          const std::vector<Matrix> score_parts = together.ScoreParts(pieces);
          for (std::size_t i = 0; i < pieces.size(); ++i) {
            const Dataset& rows = pieces[i].rows;
            const auto alone = PredictTargets(predictor, rows, pieces[i].options);
            EXPECT_EQ(score_parts[i],
                      EachEvaluationSums::Parts(alone, rows.targets(), ThreadPool(1)));
          }
        }
      }
      DismissHelpers(ranks);
    });
  }
}

}  // namespace
}  // namespace fathom
