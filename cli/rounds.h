// The rows of a table in rounds: a piece for each rank.
#ifndef FATHOM_CLI_ROUNDS_H_
#define FATHOM_CLI_ROUNDS_H_

#include <functional>
#include <vector>

#include "cli/data_options.h"
#include "fathom/fitted/predict_together.h"

namespace fathom::cli {

// Pieces of at most so many rows, in the order of the table; the last round may have fewer pieces
// than there are ranks.
void ForEachRound(
    const RowsForModel& test, Index most_rows, const PredictOptions& options,
    const std::function<void(const std::vector<PredictTogether::Piece>& pieces)>& visit);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_ROUNDS_H_
