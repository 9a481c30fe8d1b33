#include "cli/rounds.h"

#include <algorithm>
#include <utility>

#include "cli/ranks.h"

namespace fathom::cli {

void ForEachRound(
    const RowsForModel& test, Index most_rows, const PredictOptions& options,
    const std::function<void(const std::vector<PredictTogether::Piece>& pieces)>& visit) {
  const int ranks = AllRanks().size();
  const Index of_rank = (test.rows().rows() + ranks - 1) / ranks;
  std::vector<PredictTogether::Piece> pieces;
  test.ForEachPiece(std::clamp<Index>(of_rank, 1, most_rows), options,
                    [&](const Dataset& rows, const PredictOptions& predict) {
                      pieces.push_back({rows, predict});
                      if (std::cmp_less(pieces.size(), ranks)) return;
                      visit(pieces);
                      pieces.clear();
                    });
  if (!pieces.empty()) visit(pieces);
}

}  // namespace fathom::cli
