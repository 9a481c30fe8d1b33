// Reading and writing tables as comma-separated text.
#ifndef FATHOM_DATA_CSV_H_
#define FATHOM_DATA_CSV_H_

#include <ostream>
#include <string>
#include <vector>

#include "fathom/base/types.h"
#include "fathom/data/table.h"

namespace fathom {

struct CsvOptions {
  int threads = 0;  // 0 = all cores; the result does not depend on it
  // Columns to leave out, by name or number; their cells may hold any text.
  std::vector<std::string> ignore = {};
  // If not empty, all columns but these are left out; a name that the file has not is no error.
  std::vector<std::string> only = {};
};

// Reads a table of numbers; "-" is standard input. The first line names the columns; cells are
// separated by commas (or by tabs, if the first line has tabs and no comma). Cells may have quotes,
// blanks and a '+' around the number; a byte order mark, CRLF and blank lines at the end are
// accepted. A cell that is empty or holds NA, N/A, #N/A, NaN, null or ? (in any case) is missing
// and becomes NaN. Numbers are rounded correctly; one too small for double becomes 0.
//
// Throws Error with file, line, column and value for the first fault in the file: text or an
// infinite number in a cell, a wrong number of cells, column names that are absent, doubled or not
// UTF-8, and files that are missing, empty, binary, or separated by semicolons. Needs no memory but
// for the numbers.
Table ReadCsv(const std::string& path, const CsvOptions& options);
Table ReadCsv(const std::string& path, int threads = 0);

// Writes a header line and one line per row, numbers in the fewest digits that read back as the
// same bits, NaN as "NaN". Throws Error if the stream fails.
void WriteCsv(std::ostream& out, const std::vector<std::string>& columns, const Matrix& values);

}  // namespace fathom

#endif  // FATHOM_DATA_CSV_H_
