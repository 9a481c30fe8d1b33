// Tables that need not fit into memory: --memory and --packed.
#ifndef FATHOM_CLI_LARGE_TABLES_H_
#define FATHOM_CLI_LARGE_TABLES_H_

#include <memory>
#include <string>
#include <vector>

#include "cli/cli11_fwd.h"
#include "cli/data_options.h"
#include "fathom/data/dataset_rows.h"
#include "fathom/recipe/recipe.h"

namespace fathom::cli {

void AddMemoryOptions(CLI::App* app, MemoryOptions* options);

// Bytes that --memory allows; infinity if it was not given.
double MemoryOf(const MemoryOptions& options);

// The table as training data: in memory if it was not limited, or if a training by this recipe
// fits; else a packed copy on disk, with a note that says so.
std::unique_ptr<DatasetRows> ReadRows(const DataOptions& data, const MemoryOptions& memory,
                                      const Recipe& recipe);

// The files that must not be overwritten: the table, or its parts, and the packed copy.
std::vector<std::string> FilesReadBy(const DataOptions& data, const MemoryOptions& memory);

// The packed copy of a table, read for these roles or for a model.
PackedTable Pack(const DataOptions& data, const MemoryOptions& memory, const ReadOptions& reading,
                 PackOptions options = {});

}  // namespace fathom::cli

#endif  // FATHOM_CLI_LARGE_TABLES_H_
