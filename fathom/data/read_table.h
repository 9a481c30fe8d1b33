// Reading tables from files, whatever their format.
#ifndef FATHOM_DATA_READ_TABLE_H_
#define FATHOM_DATA_READ_TABLE_H_

#include <string>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/data/table.h"

namespace fathom FATHOM_PUBLIC {

enum class Header {
  kDetect,   // the first line names the columns, unless all its cells are numbers
  kPresent,  // it does, even if all its cells are numbers
  kAbsent,   // it does not
};

struct ReadOptions {
  struct Column {
    std::string name;
    bool text = false;  // its cells are strings, even where they look like numbers
  };

  int threads = 0;     // 0 = all cores; the result does not depend on it
  char separator = 0;  // between the cells of a line; 0: found out among , ; | and tab
  Header header = Header::kDetect;
  // Columns to leave out, by name or number; their cells may hold any text.
  std::vector<std::string> ignore = {};
  // Columns to read as strings and as numbers, by name or number. Any other column holds strings
  // if, in the first 1000 lines, more of its cells are strings than numbers.
  std::vector<std::string> text = {}, numbers = {};
  // If not empty, all columns but these are left out; a name that the file has not is no error.
  std::vector<Column> only = {};
  // What the columns of a file without names are called: the list with as many names as the file
  // has columns. If there are no lists, x1, x2, ...
  std::vector<std::vector<std::string>> names = {};
};

// Reads a table; "-" is standard input. The file is text as described in csv.h or an array as
// described in npy.h, either of them packed by gzip or not, which its content decides and not its
// name. Throws Error with file, place, value and cure for the first fault. Needs no memory but for
// the numbers, and for the text where it was packed or came through a pipe.
Table ReadTable(const std::string& path, const ReadOptions& options = {});

}  // namespace fathom

#endif  // FATHOM_DATA_READ_TABLE_H_
