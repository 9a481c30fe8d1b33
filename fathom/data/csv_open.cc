#include "fathom/data/csv_open.h"

#include "fathom/base/error.h"
#include "fathom/data/csv_layout.h"

namespace fathom::internal {

void RefuseNul(const std::string& source, std::string_view text) {
  if (text.find('\0') == std::string_view::npos) return;
  ThrowError(source, ": is not a text file (it holds zero bytes); save the table as CSV");
}

OpenedCsv OpenCsv(const FileBytes& file, const ReadOptions& options) {
  OpenedCsv csv;
  csv.layout.source = file.name();
  csv.layout.parts = file.parts();
  csv.layout.missing = MissingWords(options.missing);
  csv.text = ToCsvText(csv.layout.source, file.bytes(), options.separator);
  csv.layout.separator = csv.text.separator;
  std::string_view text = csv.text.text;
  RefuseNul(csv.layout.source, text.substr(0, 1 << 16));

  csv.header_lines = csv.text.lines_before + ReadHeader(options, &text, &csv.layout, &csv.notes);
  while (!text.empty() && (text.back() == '\n' || IsBlank(text.back(), csv.layout.separator))) {
    text.remove_suffix(1);
  }
  if (text.empty())
    ThrowError(csv.layout.source, ": has a header but no rows; add rows of numbers");
  csv.body = text;
  return csv;
}

}  // namespace fathom::internal
