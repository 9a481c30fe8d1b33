// Several files that are one table: part-1.csv, part-2.csv, ...
#ifndef FATHOM_DATA_TABLE_PARTS_H_
#define FATHOM_DATA_TABLE_PARTS_H_

#include <string>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/data/read_table.h"
#include "fathom/io/file_bytes.h"

namespace fathom FATHOM_PUBLIC {

// The files that `path` stands for: itself; or, if there is no such file and it has a *, ? or [,
// those whose names match it, in the order of their names. `path` itself if none does.
std::vector<std::string> PartsOf(const std::string& path);

struct OpenOptions {
  bool through_disk = false;  // take no memory for text that is packed or comes through a pipe
  std::string folder = {};    // for temporary files; empty: ScratchFolder
};

// Opens a table for ReadTable, and unpacks it. Several parts, which must be text with the same
// columns in the same order, are joined in a temporary file; an error names the part and its line.
FileBytes OpenTable(const std::string& path, const ReadOptions& reading = {},
                    const OpenOptions& options = {});

}  // namespace fathom

#endif  // FATHOM_DATA_TABLE_PARTS_H_
