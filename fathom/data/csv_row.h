// One line of a CSV file: fields, quotes, numbers and strings. Used by csv*.cc only.
#ifndef FATHOM_DATA_CSV_ROW_H_
#define FATHOM_DATA_CSV_ROW_H_

#include <string>
#include <string_view>
#include <vector>

#include "fathom/base/types.h"
#include "fathom/data/cell_format.h"
#include "fathom/data/levels.h"
#include "fathom/data/missing_words.h"
#include "fathom/io/file_bytes.h"

namespace fathom::internal {

struct CsvLayout {
  std::string source;
  char separator = ',';
  bool named = true;                // the file's first line holds the names
  std::vector<std::string> names;   // of all columns of the file
  bool has_index = false;           // the first column is the only one that the file gives no name
  bool decoded = false;             // some name was not UTF-8
  std::vector<Index> destinations;  // [names]  its column in the table, or -1 if left out
  std::vector<char> text;           // [names]  whether its cells are strings
  std::vector<CellFormat> formats;  // [names]  how its cells are written, if they are no strings
  std::vector<char> written;        // [names]  whether that format is not plain
  std::vector<char> anything;       // [names]  whether what is no number counts as missing
  MissingWords missing;
  std::vector<FileBytes::Part> parts;  // of the file, if it is several

  std::string PlaceOf(Index line) const { return FileBytes::PlaceOf(source, parts, line); }
};

// A blank that may surround a field; in tab-separated text a tab does not.
inline bool IsBlank(char c, char separator) {
  return (c == ' ' || c == '\t' || c == '\r') && c != separator;
}

struct CsvField {
  std::string_view text;  // without surrounding blanks and quotes; doubled quotes are still doubled
  const char* next = nullptr;  // at the separator, the newline or the end of the text
  bool quoted = false;
  const char* problem = nullptr;  // what is wrong with the quotes, if something is
};

// The field that starts at `begin` and ends before a separator, a newline or `end`. A quoted field
// may contain all of these.
CsvField ReadField(const char* begin, const char* end, char separator);

// The text of a field, doubled quotes made single.
std::string Unescape(const CsvField& field);

// Parses [begin, end), one line without its newline, into row[0..]; strings become their places in
// levels[destination]. Throws Error naming `line`.
void ParseRow(const CsvLayout& layout, const char* begin, const char* end, Index line,
              std::vector<LevelCodes>* levels, double* row);

// Throws Error: the line has `found` fields, but the file has another number of columns.
[[noreturn]] void ThrowRagged(const CsvLayout& layout, Index line, Index found);

// Whether `text`, which has no blanks around it, is a finite number as programs write it.
bool ReadPlainNumber(std::string_view text, double* value);
// Whether `text` is a number, be it infinite, and does not stand for a missing cell.
bool IsNumber(std::string_view text);
// A decimal comma, or commas between thousands: digits around every comma.
bool IsNumberWithComma(std::string_view text);

}  // namespace fathom::internal

#endif  // FATHOM_DATA_CSV_ROW_H_
