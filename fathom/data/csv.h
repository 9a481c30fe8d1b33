// Reading and writing tables as text with separators.
#ifndef FATHOM_DATA_CSV_H_
#define FATHOM_DATA_CSV_H_

#include <ostream>
#include <string>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/base/types.h"
#include "fathom/data/read_table.h"
#include "fathom/io/file_bytes.h"

namespace fathom FATHOM_PUBLIC {

// Reads a table of numbers and strings. Cells may have blanks around them and quotes, in which
// separators, line ends and doubled quotes are text, and a number may have a '+'; a byte order
// mark, CRLF and blank lines at the end are accepted. A cell that is empty or holds NA, N/A, #N/A,
// NaN, null or ? (in any case) is missing and becomes NaN. Numbers are rounded correctly; one too
// small for double becomes 0.
//
// Throws Error with file, line, column and value for the first fault in the file: text or an
// infinite number in a column of numbers, a wrong number of cells, column names that are absent,
// doubled or not UTF-8, and files that are empty or binary.
Table ReadCsv(const FileBytes& file, const ReadOptions& options);

// StreamTable for this format.
Table StreamCsv(const FileBytes& file, const ReadOptions& options, RowSink* sink,
                std::vector<LevelPlaces>* places);

// The names of the columns, as ReadCsv finds them.
std::vector<std::string> ReadCsvNames(const FileBytes& file, const ReadOptions& options);

// ReadColumns for this format.
TextColumns ReadCsvColumns(const FileBytes& file, const std::vector<std::string>& columns,
                           const ReadOptions& options);

// The cells of one column (by name or number) as they are written, without blanks and quotes around
// them: for columns that are neither numbers nor categories. Throws Error as ReadCsv does, but for
// what the other columns hold.
std::vector<std::string> ReadCsvStrings(const FileBytes& file, const std::string& column,
                                        const ReadOptions& options);

// Writes a header line and one line per row, numbers in the fewest digits that read back as the
// same bits, NaN as "NaN". `levels` as in Table: the cells of a column that has some are places in
// them, and the strings are written. Throws Error if the stream fails.
void WriteCsv(std::ostream& out, const std::vector<std::string>& columns, const Matrix& values,
              const std::vector<std::vector<std::string>>& levels = {});

}  // namespace fathom

#endif  // FATHOM_DATA_CSV_H_
