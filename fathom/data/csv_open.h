// A CSV file that is ready to be parsed. Used by csv*.cc only.
#ifndef FATHOM_DATA_CSV_OPEN_H_
#define FATHOM_DATA_CSV_OPEN_H_

#include <string>
#include <string_view>
#include <vector>

#include "fathom/data/csv_row.h"
#include "fathom/data/csv_text.h"
#include "fathom/data/read_table.h"
#include "fathom/io/file_bytes.h"

namespace fathom::internal {

// A file whose header was read.
struct OpenedCsv {
  CsvText text;  // holds what the body refers to
  CsvLayout layout;
  std::vector<Note> notes;
  std::string_view body;  // without blank lines at its end
  Index header_lines = 0;
};

// Throws Error for what no row can make good: another format, no rows, bad names.
OpenedCsv OpenCsv(const FileBytes& file, const ReadOptions& options);

// Throws Error if there is a zero byte, which no text has.
void RefuseNul(const std::string& source, std::string_view text);

}  // namespace fathom::internal

#endif  // FATHOM_DATA_CSV_OPEN_H_
