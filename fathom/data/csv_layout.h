// What the first lines of a CSV file say about the rest: separator, names, kinds of columns.
#ifndef FATHOM_DATA_CSV_LAYOUT_H_
#define FATHOM_DATA_CSV_LAYOUT_H_

#include <string_view>
#include <vector>

#include "fathom/data/csv_row.h"
#include "fathom/data/read_table.h"

namespace fathom::internal {

// Throws Error if `text` begins like a file of another format, or holds nothing.
void RefuseForeignFormats(const std::string& source, std::string_view text);

// Finds the separator and the names, and moves *text behind the line of names, if there is one.
// Returns the number of lines that it took.
Index ReadHeader(const ReadOptions& options, std::string_view* text, CsvLayout* layout);

// Decides from the options and the first lines of the body which columns are kept, and which hold
// strings. Returns the names of the kept ones in the order of the file.
std::vector<std::string> ChooseColumns(const ReadOptions& options, std::string_view body,
                                       CsvLayout* layout);

// The fields of the row that starts at `begin`; the last one ends at a newline or at `end`.
std::vector<CsvField> FieldsOfRow(const char* begin, const char* end, char separator);

// The end of the row that starts at `begin`: a newline outside quotes, or `end`.
const char* RowEnd(const char* begin, const char* end, char separator);

}  // namespace fathom::internal

#endif  // FATHOM_DATA_CSV_LAYOUT_H_
