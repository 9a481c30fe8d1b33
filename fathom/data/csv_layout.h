// What the first line of a CSV file says about the rest: names and places of columns.
#ifndef FATHOM_DATA_CSV_LAYOUT_H_
#define FATHOM_DATA_CSV_LAYOUT_H_

#include <string_view>
#include <vector>

#include "fathom/data/csv_row.h"
#include "fathom/data/read_table.h"

namespace fathom::internal {

// Finds the names, and moves *text behind the line of names, if there is one. Returns the number of
// lines that it took. A column without a name is called after its number.
Index ReadHeader(const ReadOptions& options, std::string_view* text, CsvLayout* layout,
                 std::vector<Note>* notes);

// Decides from the options which columns are kept. Returns their names in the order of the file.
std::vector<std::string> ChooseColumns(const ReadOptions& options, CsvLayout* layout);

// The fields of the row that starts at `begin`; the last one ends at a newline or at `end`.
std::vector<CsvField> FieldsOfRow(const char* begin, const char* end, char separator);

// The end of the row that starts at `begin`: a newline outside quotes, or `end`.
const char* RowEnd(const char* begin, const char* end, char separator);

}  // namespace fathom::internal

#endif  // FATHOM_DATA_CSV_LAYOUT_H_
