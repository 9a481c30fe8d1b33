// Reading tables from files, whatever their format.
#ifndef FATHOM_DATA_READ_TABLE_H_
#define FATHOM_DATA_READ_TABLE_H_

#include <string>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/data/table.h"
#include "fathom/io/file_bytes.h"

namespace fathom FATHOM_PUBLIC {

class Communicator;

enum class Header {
  kDetect,   // the first line names the columns, unless all its cells are numbers
  kPresent,  // it does, even if all its cells are numbers
  kAbsent,   // it does not
};

enum class DateOrder {
  kDetect,      // of 2/1/2024: from a day above 12 in the column, else the month is first
  kDayFirst,    // in January
  kMonthFirst,  // in February
};

struct ReadOptions {
  struct Column {
    std::string name;
    bool text = false;  // its cells are strings, even where they look like numbers
    // How its cells are written, unless the file shows that they are written in another way.
    CellFormat format = {};
    bool may_hold_anything = false;  // what is no number counts as missing
  };

  int threads = 0;  // 0 = all cores; the result does not depend on it
  // Who parse the text of a file together, each a part of it. This process is the first of them;
  // the others wait for orders, and need not see the file. Null: this process alone.
  const Communicator* ranks = nullptr;
  char separator = 0;  // between the cells of a line; 0: found out among , ; | tab and blanks
  char decimal = 0;    // the sign before a fraction, '.' or ','; 0: found out
  DateOrder date_order = DateOrder::kDetect;
  std::vector<std::string> missing = {};  // words for a missing cell, beside the usual ones
  Header header = Header::kDetect;
  // Columns to leave out, by name or number; their cells may hold any text.
  std::vector<std::string> ignore = {};
  // Columns to read as strings and as numbers, by name or number. Any other column holds numbers,
  // times or dates if all its cells can be read in one of their formats, and otherwise strings if
  // more of its cells are strings than numbers. The first 1000 lines decide, and the whole file
  // where a later line proves them wrong.
  std::vector<std::string> text = {}, numbers = {};
  bool faulty_cells_are_missing = false;  // what is no number among numbers; for a first look
  // If not empty, all columns but these are left out; a name that the file has not is no error.
  std::vector<Column> only = {};
  // What the columns of a file without names are called: the list with as many names as the file
  // has columns. If there are no lists, x1, x2, ...
  std::vector<std::vector<std::string>> names = {};
};

// Reads a table; "-" is standard input, and "part-*.csv" may be several files (table_parts.h). The
// file is text as described in csv.h or an array as described in npy.h, either of them packed by
// gzip or not, which its content decides and not its name. Throws Error with file, place, value and
// cure for the first fault. Needs no memory but for the numbers, and for the text where it was
// packed or came through a pipe.
Table ReadTable(const std::string& path, const ReadOptions& options = {});
// The same for a file that is open and unpacked.
Table ReadTable(const FileBytes& file, const ReadOptions& options = {});

// Takes the rows of a table in their order, some at a time.
class RowSink {
 public:
  virtual ~RowSink() = default;
  // Begins, or begins anew: then what came before is void.
  virtual void Start(Index columns) = 0;
  virtual void Add(const Matrix& rows) = 0;

  // Whether it takes a share of the rows: those that this rank has parsed, while the others put
  // theirs into sinks of their own. Then this comes instead of Start: the rows to come are those
  // from `first` on, of so many.
  virtual bool TakesShare() const { return false; }
  virtual void StartShare(Index columns, Index /*first*/, Index /*all_rows*/) { Start(columns); }
};

// [columns]: where the string of each number stands among the levels of the column; empty for a
// column of numbers.
using LevelPlaces = std::vector<std::vector<Index>>;

// ReadTable for tables that need not fit into memory: the rows go to the sink, and the table comes
// without them. While they go, the strings of a column are numbered in the order of the file;
// *places [shares] says what the numbers mean. There is one share, unless the sink takes a share
// and all ranks see the file: then each has one.
Table StreamTable(const FileBytes& file, const ReadOptions& options, RowSink* sink,
                  std::vector<LevelPlaces>* places);

// Columns as they are written.
struct TextColumns {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> cells;  // [names, rows]
};

// The columns of the given names or numbers; "all" alone, if no column is called that, means all of
// them. Throws Error as ReadTable does, but for what the cells hold.
TextColumns ReadColumns(const FileBytes& file, const std::vector<std::string>& columns,
                        const ReadOptions& options = {});

}  // namespace fathom

#endif  // FATHOM_DATA_READ_TABLE_H_
