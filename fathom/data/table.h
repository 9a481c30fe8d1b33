// A table of numbers and strings with named columns, as read from a file.
#ifndef FATHOM_DATA_TABLE_H_
#define FATHOM_DATA_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/base/types.h"

namespace fathom FATHOM_PUBLIC {

struct Table {
  std::string source;                // the file's name, for messages
  std::vector<std::string> columns;  // [C]
  Matrix values;                     // [N, C]; NaN marks an empty cell
  // [C], or empty if no column holds strings. The different strings of a column, in order; its
  // cells in `values` are places in this list. Empty for a column of numbers. A column of more than
  // kMostLevels strings keeps the first kMostLevels + 1 that were found, and its other cells are
  // NaN.
  std::vector<std::vector<std::string>> levels = {};
  std::vector<std::string> left_out = {};  // columns of the file that the reader was told to leave
  // Columns of the file, if it gave them no names. The table may hold fewer.
  Index unnamed_columns = 0;

  static constexpr std::size_t kMostLevels = 10000;
  const std::vector<std::string>& LevelsOf(Index column) const {
    static const std::vector<std::string> kNone;
    return levels.empty() ? kNone : levels[column];
  }
};

// What column `number` (from 1) is called if the file gives it no name: x1, x2, ...
std::string UnnamedColumn(std::size_t number);

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
