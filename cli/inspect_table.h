// 'fathom inspect' of a table: its columns, their problems, and what 'fathom fit' would make of it.
#ifndef FATHOM_CLI_INSPECT_TABLE_H_
#define FATHOM_CLI_INSPECT_TABLE_H_

#include <string>

#include "cli/data_options.h"

namespace fathom::cli {

// Whether the file begins like a model; one that cannot be read does not.
bool LooksLikeModel(const std::string& path);

// Prints it all, for people or as one JSON object. Returns the exit code, which says whether
// 'fathom fit' with these options would take the table. Throws Error if the table cannot be read.
int InspectTable(const DataOptions& options, bool json);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_INSPECT_TABLE_H_
