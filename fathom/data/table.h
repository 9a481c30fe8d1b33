// A table of numbers with named columns, as read from a file.
#ifndef FATHOM_DATA_TABLE_H_
#define FATHOM_DATA_TABLE_H_

#include <string>
#include <vector>

#include "fathom/base/types.h"

namespace fathom {

struct Table {
  std::string source;                // the file's name, for messages
  std::vector<std::string> columns;  // [C]
  Matrix values;                     // [N, C]; NaN marks an empty cell
};

// The number (from 0) of the column called `name`. If none is, and `name` is a whole number from 1
// to C, the column at that place. Throws Error, with the nearest and the available names, if there
// is no such column, and if several columns share the name.
Index FindColumn(const std::string& source, const std::vector<std::string>& columns,
                 const std::string& name);
inline Index FindColumn(const Table& table, const std::string& name) {
  return FindColumn(table.source, table.columns, name);
}

// Throws Error: `source` has no column `name`; `what` says what it was wanted for ("column",
// "target column").
[[noreturn]] void ThrowNoColumn(const std::string& source, const std::vector<std::string>& columns,
                                const char* what, const std::string& name);

}  // namespace fathom

#endif  // FATHOM_DATA_TABLE_H_
