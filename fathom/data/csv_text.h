// The text of a table in the one form that the CSV reader parses: UTF-8 or another encoding that
// holds ASCII, lines that end in a line feed, and one sign between cells.
#ifndef FATHOM_DATA_CSV_TEXT_H_
#define FATHOM_DATA_CSV_TEXT_H_

#include <memory>
#include <string>
#include <string_view>

#include "fathom/base/types.h"

namespace fathom::internal {

// What `--separator space` means: runs of blanks.
inline constexpr char kBlanks = ' ';

struct CsvText {
  std::string_view text;                             // from the line of names on
  std::shared_ptr<const std::string> own = nullptr;  // holds the text where it had to be rewritten
  char separator = 0;                                // never kBlanks, which became tabs
  Index lines_before = 0;                            // of the file
};

// Plain text is passed on as it is, without a copy. UTF-16, lines that end in a lone carriage
// return and cells between blanks are rewritten, so that line numbers stay those of the file. Lines
// before the table are passed over: "sep=;" of spreadsheets and comments that begin with '#', the
// last of which names the columns if a row of numbers follows. `separator` 0: found out. Throws
// Error if the bytes are another format, or hold nothing.
CsvText ToCsvText(const std::string& source, std::string_view bytes, char separator);

}  // namespace fathom::internal

#endif  // FATHOM_DATA_CSV_TEXT_H_
