// What the formats' readers share: names for columns that have none, and the choice of columns.
#ifndef FATHOM_DATA_READ_COLUMNS_H_
#define FATHOM_DATA_READ_COLUMNS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "fathom/data/read_table.h"

namespace fathom::internal {

// Names for the `count` columns of a file that names none. Throws Error if the options have lists
// of names but none of that length.
std::vector<std::string> UnnamedColumns(const std::string& source, std::size_t count,
                                        const ReadOptions& options);

// [names]: the column of the table that each column of the file becomes, or -1 if it is left out.
std::vector<Index> KeptColumns(const std::string& source, const std::vector<std::string>& names,
                               const ReadOptions& options);

// Sets (*text)[c], whether column c holds strings, where the options decide it.
void ApplyKinds(const std::string& source, const std::vector<std::string>& names,
                const ReadOptions& options, std::vector<char>* text);

}  // namespace fathom::internal

#endif  // FATHOM_DATA_READ_COLUMNS_H_
