// What the columns of a text file hold: plain numbers, numbers as people write them, times, dates,
// or strings. Used by csv*.cc only.
#ifndef FATHOM_DATA_COLUMN_KINDS_H_
#define FATHOM_DATA_COLUMN_KINDS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fathom/data/csv_row.h"
#include "fathom/data/read_table.h"
#include "fathom/io/file_bytes.h"

namespace fathom::internal {

// How much of the body decides. Everything, where the first lines have proved wrong.
enum class Evidence { kFirstLines, kEverything };

// Sets text, formats and anything of *layout from the cells and the options. `file` holds the body.
// A list of formats is tried on each column, and the first in which all cells can be read is the
// column's. Whether "1,234" has a decimal comma is decided for the file: by cells that can be read
// in one way only, else by the separator. Appends a note on every column whose format is not plain.
void FindKinds(const ReadOptions& options, const FileBytes& file, std::string_view body,
               Evidence evidence, CsvLayout* layout, std::vector<Note>* notes);

// The same of cells in memory, none of them missing: the format of dates, times or numbers as
// people write them in which all cells can be read. None if there is no such format, and where all
// cells are plain numbers: whoever has these as strings means names.
std::optional<CellFormat> FormatOfTexts(std::span<const std::string_view> cells);

}  // namespace fathom::internal

#endif  // FATHOM_DATA_COLUMN_KINDS_H_
