// A table of numbers and strings with named columns, as read from a file.
#ifndef FATHOM_DATA_TABLE_H_
#define FATHOM_DATA_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/base/types.h"
#include "fathom/data/cell_format.h"

namespace fathom FATHOM_PUBLIC {

// Something about the data that a user should know and that is no error.
struct Note {
  std::string kind;  // one word for programs: "constant_columns", "rows_without_target", ...
  Index count = 0;   // of columns, rows or cells
  std::string text;  // one line for people

  bool operator==(const Note&) const = default;
};

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
  // [C], or empty if all are plain. How the cells of a column were written.
  std::vector<CellFormat> formats = {};
  // The first column, if only the others have names: R and pandas write the numbers or names of the
  // rows there. Empty: there is none.
  std::string index_column = {};
  std::vector<std::string> missing = {};  // words for a missing cell that the reader was told
  std::vector<Note> notes = {};           // what was found out about the file

  static constexpr std::size_t kMostLevels = 10000;
  const std::vector<std::string>& LevelsOf(Index column) const {
    static const std::vector<std::string> kNone;
    return levels.empty() ? kNone : levels[column];
  }
  CellFormat FormatOf(Index column) const {
    return formats.empty() ? CellFormat{} : formats[column];
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
