// For commands that compare predictions with what is true.
#ifndef FATHOM_CLI_KNOWN_TARGETS_H_
#define FATHOM_CLI_KNOWN_TARGETS_H_

#include "cli/data_options.h"

namespace fathom::cli {

// Throws Error unless the table has the columns of all targets and no class that is unknown.
void RequireTargets(const RowsForModel& test, const Schema& schema);

// Throws Error if none of the rows has a target.
void RequireScoredRows(Index rows, const RowsForModel& test, const Schema& schema);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_KNOWN_TARGETS_H_
