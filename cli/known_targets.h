// For commands that compare predictions with what is true.
#ifndef FATHOM_CLI_KNOWN_TARGETS_H_
#define FATHOM_CLI_KNOWN_TARGETS_H_

#include "cli/cli11_fwd.h"
#include "cli/data_options.h"
#include "cli/large_tables.h"

namespace fathom::cli {

// A model, and the rows that it is compared with.
struct TestOptions {
  std::string model;
  DataOptions data;
  MemoryOptions memory;
  PredictOptions predict;
  int threads = 0;
  Index chunk = 4096;
};

void AddTestOptions(CLI::App* app, TestOptions* options);

// Throws Error unless the table has the columns of all targets and no class that is unknown.
void RequireTargets(const RowsForModel& test, const Schema& schema);

// Throws Error if none of the rows has a target.
void RequireScoredRows(Index rows, const RowsForModel& test, const Schema& schema);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_KNOWN_TARGETS_H_
