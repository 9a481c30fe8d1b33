#include "fathom/data/csv.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "fathom/base/error.h"
#include "fathom/base/threads.h"
#include "fathom/data/csv_row.h"
#include "fathom/data/file_bytes.h"
#include "fathom/data/text.h"

namespace fathom {
namespace {

using internal::CsvField;
using internal::CsvLayout;

void RefuseForeignFormats(const std::string& source, std::string_view text) {
  const auto starts = [&](std::string_view magic) { return text.substr(0, magic.size()) == magic; };
  if (starts("\x1f\x8b")) ThrowError(source, ": is compressed; unpack it first (gunzip)");
  if (starts("PK\x03\x04")) {
    ThrowError(source,
               ": is a zip archive or an Excel workbook, not text; export the sheet as CSV");
  }
  if (starts("\xff\xfe") || starts("\xfe\xff")) {
    ThrowError(source, ": is text in UTF-16; save it as UTF-8");
  }
}

void RefuseNul(const std::string& source, std::string_view text) {
  if (text.find('\0') == std::string_view::npos) return;
  ThrowError(source, ": is not a text file (it holds zero bytes); save the table as CSV");
}

char DetectSeparator(const std::string& source, std::string_view text) {
  bool comma = false, tab = false, semicolon = false, quoted = false;
  for (const char c : text.substr(0, text.find('\n'))) {
    quoted = quoted != (c == '"');
    if (quoted) continue;
    comma = comma || c == ',';
    tab = tab || c == '\t';
    semicolon = semicolon || c == ';';
  }
  if (semicolon && !comma && !tab) {
    ThrowError(source,
               ": fields are separated by ';'; save the file with ',' between fields and '.'",
               " as the decimal point");
  }
  return tab && !comma ? '\t' : ',';
}

std::string Unescape(std::string_view text) {
  std::string name(text);
  for (std::size_t i = name.find("\"\""); i != std::string::npos; i = name.find("\"\"", i + 1)) {
    name.erase(i, 1);
  }
  return name;
}

void CheckNames(const std::string& source, const std::vector<std::string>& names) {
  if (names.size() == 1 && names[0].empty()) {
    ThrowError(source, ": line 1 is blank; the first line must name the columns");
  }
  if (std::all_of(names.begin(), names.end(), internal::IsNumber)) {
    ThrowError(source,
               ": has no header row: the first line holds only numbers; put a line with the",
               " columns' names on top");
  }
  std::unordered_map<std::string_view, std::size_t> seen;
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (names[c].empty()) {
      ThrowError(source, ": column ", c + 1,
                 " has no name; name it in the first line, or remove it");
    }
    if (!IsUtf8(names[c])) {
      ThrowError(source, ": the name of column ", c + 1, " is not UTF-8; save the file as UTF-8");
    }
    const auto [first, is_new] = seen.emplace(names[c], c);
    if (!is_new) {
      ThrowError(source, ": columns ", first->second + 1, " and ", c + 1, " are both called ",
                 Quoted(names[c]), "; give every column a name of its own");
    }
  }
}

// Reads the column names and moves *text behind the header. Returns the number of lines it took.
Index ReadHeader(std::string_view* text, CsvLayout* layout) {
  layout->separator = DetectSeparator(layout->source, *text);
  const char* const end = text->data() + text->size();
  const char* p = text->data();
  for (;; ++p) {
    const CsvField field = internal::ReadField(p, end, layout->separator);
    if (field.problem) {
      ThrowError(layout->source, ": line 1, name of column ", layout->names.size() + 1, ": ",
                 field.problem, " in ", Quoted(field.text), "; mend the quotes");
    }
    layout->names.push_back(field.quoted ? Unescape(field.text) : std::string(field.text));
    p = field.next;
    if (p == end || *p == '\n') break;
  }
  const std::string_view header = text->substr(0, static_cast<std::size_t>(p - text->data()));
  if (p == end && header.find('\r') != std::string_view::npos) {
    ThrowError(layout->source,
               ": lines end in a lone carriage return; save the file with line feeds");
  }
  CheckNames(layout->source, layout->names);
  text->remove_prefix(header.size() + (p == end ? 0 : 1));
  return 1 + std::count(header.begin(), header.end(), '\n');
}

// Decides which columns are kept; returns their names in the order of the file.
std::vector<std::string> ChooseColumns(const CsvOptions& options, CsvLayout* layout) {
  std::vector<char> keep(layout->names.size(), options.only.empty() ? 1 : 0);
  if (!options.only.empty()) {
    std::unordered_map<std::string_view, std::size_t> place;
    for (std::size_t c = 0; c < layout->names.size(); ++c) place.emplace(layout->names[c], c);
    for (const std::string& name : options.only) {
      if (const auto found = place.find(name); found != place.end()) keep[found->second] = 1;
    }
  }
  for (const std::string& name : options.ignore) {
    keep[FindColumn(layout->source, layout->names, name)] = 0;
  }
  std::vector<std::string> kept;
  for (std::size_t c = 0; c < keep.size(); ++c) {
    layout->destinations.push_back(keep[c] ? static_cast<Index>(kept.size()) : -1);
    if (keep[c]) kept.push_back(layout->names[c]);
  }
  return kept;
}

// Places in `body` to cut it: lines stay whole, pieces are about a megabyte.
std::vector<std::size_t> CutAtLines(std::string_view body) {
  constexpr std::size_t kPiece = 1 << 20;
  std::vector<std::size_t> cuts = {0};
  while (body.size() - cuts.back() > kPiece) {
    const std::size_t newline = body.find('\n', cuts.back() + kPiece);
    if (newline == std::string_view::npos) break;
    cuts.push_back(newline + 1);
  }
  cuts.push_back(body.size());
  return cuts;
}

// Parses the lines of `piece` into rows of `stride` numbers. `line` is the number of the first one.
void ParseLines(const CsvLayout& layout, std::string_view piece, Index line, double* row,
                Index stride) {
  const char* p = piece.data();
  const char* const end = p + piece.size();
  for (bool more = true; more; ++line, row += stride) {
    const auto left = static_cast<std::size_t>(end - p);
    const auto* newline =
        left == 0 ? nullptr : static_cast<const char*>(std::memchr(p, '\n', left));
    const char* const line_end = newline ? newline : end;
    internal::ParseRow(layout, p, line_end, line, row);
    p = newline ? newline + 1 : end;
    // A newline at the very end of a piece ends its last line; it does not begin another.
    more = newline && p != end;
  }
}

Matrix ReadBody(const FileBytes& file, const CsvLayout& layout, std::string_view body,
                Index first_line, Index columns, int threads) {
  const std::vector<std::size_t> cuts = CutAtLines(body);
  const auto pieces = static_cast<Index>(cuts.size()) - 1;
  const auto piece = [&](Index k) { return body.substr(cuts[k], cuts[k + 1] - cuts[k]); };
  const ThreadPool pool(pieces == 1 ? 1 : threads);

  std::vector<Index> first_row(static_cast<std::size_t>(pieces) + 1, 0);
  pool.Run(pieces, [&](Index k) {
    const std::string_view text = piece(k);
    RefuseNul(layout.source, text);
    first_row[k + 1] = std::count(text.begin(), text.end(), '\n');
    file.Release(text);
  });
  first_row[pieces] += 1;  // the last line, whose newline was cut off with the blank end
  for (Index k = 0; k < pieces; ++k) first_row[k + 1] += first_row[k];
  const Index rows = first_row[pieces];

  // Every field takes a byte, its separator. Fewer bytes than cells: some line is too short, and a
  // small file must not make us ask for a huge matrix before we find it.
  if (rows > (static_cast<Index>(body.size()) + 1) / static_cast<Index>(layout.names.size())) {
    std::vector<double> scratch(static_cast<std::size_t>(columns));
    ParseLines(layout, body, first_line, scratch.data(), 0);
  }
  Matrix values(rows, columns);
  pool.Run(pieces, [&](Index k) {
    ParseLines(layout, piece(k), first_line + first_row[k], values.data() + first_row[k] * columns,
               columns);
    file.Release(piece(k));
  });
  return values;
}

void AppendName(const std::string& name, std::string* line) {
  const bool plain = !name.empty() && name.find_first_of(",;\t\"\r\n") == std::string::npos &&
                     name.front() != ' ' && name.back() != ' ';
  if (plain) {
    *line += name;
    return;
  }
  *line += '"';
  for (const char c : name) line->append(c == '"' ? 2 : 1, c);
  *line += '"';
}

}  // namespace

Table ReadCsv(const std::string& path, const CsvOptions& options) {
  const FileBytes file(path);
  CsvLayout layout;
  layout.source = file.name();
  std::string_view text = file.bytes();
  RefuseForeignFormats(layout.source, text);
  RefuseNul(layout.source, text.substr(0, 1 << 16));
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    ThrowError(layout.source,
               ": is empty; a table needs a line of column names and rows of numbers");
  }

  const Index header_lines = ReadHeader(&text, &layout);
  while (!text.empty() &&
         (text.back() == '\n' || internal::IsBlank(text.back(), layout.separator))) {
    text.remove_suffix(1);
  }
  if (text.empty()) ThrowError(layout.source, ": has a header but no rows; add rows of numbers");
  Table table;
  table.columns = ChooseColumns(options, &layout);
  table.values = ReadBody(file, layout, text, header_lines + 1,
                          static_cast<Index>(table.columns.size()), options.threads);
  table.source = std::move(layout.source);
  return table;
}

Table ReadCsv(const std::string& path, int threads) {
  return ReadCsv(path, CsvOptions{.threads = threads});
}

void WriteCsv(std::ostream& out, const std::vector<std::string>& columns, const Matrix& values) {
  FATHOM_CHECK(static_cast<Index>(columns.size()) == values.cols());
  std::string line;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (c > 0) line += ',';
    AppendName(columns[c], &line);
  }
  line += '\n';
  out << line;
  for (Index n = 0; n < values.rows(); ++n) {
    line.clear();
    for (Index c = 0; c < values.cols(); ++c) {
      if (c > 0) line += ',';
      const double value = values(n, c);
      char digits[32];
      const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
      if (value == value) {
        line.append(digits, end);
      } else {
        line += "NaN";
      }
    }
    line += '\n';
    out << line;
  }
  out.flush();
  if (!out)
    ThrowError("cannot write the table: the output failed; is the disk full or the pipe closed?");
}

}  // namespace fathom
