#include "fathom/data/csv.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <string_view>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/base/threads.h"
#include "fathom/data/csv_layout.h"
#include "fathom/data/csv_row.h"

namespace fathom {
namespace {

using internal::CsvLayout;
using internal::LevelCodes;

void RefuseNul(const std::string& source, std::string_view text) {
  if (text.find('\0') == std::string_view::npos) return;
  ThrowError(source, ": is not a text file (it holds zero bytes); save the table as CSV");
}

constexpr std::size_t kPiece = 1 << 20;

// A part of the body, rows whole, that one thread parses at a time.
struct Piece {
  std::string_view text;
  Index rows = 0, lines = 0;            // of its own
  Index first_row = 0, first_line = 0;  // where it begins
};

// Pieces of about a megabyte, cut at line ends.
std::vector<Piece> CutAtLines(std::string_view body) {
  std::vector<Piece> pieces;
  while (body.size() > kPiece) {
    const std::size_t newline = body.find('\n', kPiece);
    if (newline == std::string_view::npos) break;
    pieces.push_back({body.substr(0, newline + 1)});
    body.remove_prefix(newline + 1);
  }
  if (!body.empty() || pieces.empty()) pieces.push_back({body});
  return pieces;
}

// Whether a quoted field runs over the end of a line.
bool HasOpenQuote(std::string_view text, char separator) {
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p < end) {
    const auto* quote = static_cast<const char*>(std::memchr(p, '"', end - p));
    if (quote == nullptr) return false;
    // The line with this quote: from the newline before it to the one after it.
    const char* line = quote;
    while (line != p && line[-1] != '\n') --line;
    const auto* newline = static_cast<const char*>(std::memchr(quote, '\n', end - quote));
    const char* const line_end = newline ? newline : end;
    if (internal::RowEnd(line, end, separator) > line_end) return true;
    p = line_end;
  }
  return false;
}

// Pieces of about a megabyte where rows may run over several lines, found by reading all fields.
std::vector<Piece> CutAtRows(std::string_view body, char separator) {
  std::vector<Piece> pieces;
  const char* p = body.data();
  const char* const end = p + body.size();
  const char* begin = p;
  Index rows = 0;
  while (p != end) {
    p = internal::RowEnd(p, end, separator);
    ++rows;
    if (p != end) ++p;
    if (p == end || p - begin > static_cast<std::ptrdiff_t>(kPiece)) {
      const std::string_view text(begin, static_cast<std::size_t>(p - begin));
      pieces.push_back({text, rows, std::count(text.begin(), text.end(), '\n')});
      begin = p;
      rows = 0;
    }
  }
  return pieces;
}

struct Body {
  std::vector<Piece> pieces;
  bool whole_lines = true;  // every line is a row
  Index rows = 0;
};

Body CutBody(const FileBytes& file, const CsvLayout& layout, std::string_view text,
             Index first_line, const ThreadPool& pool) {
  Body body{CutAtLines(text)};
  std::vector<char> open(body.pieces.size(), 0);
  pool.Run(static_cast<Index>(body.pieces.size()), [&](Index k) {
    Piece& piece = body.pieces[k];
    RefuseNul(layout.source, piece.text);
    piece.lines = std::count(piece.text.begin(), piece.text.end(), '\n');
    open[k] = HasOpenQuote(piece.text, layout.separator) ? 1 : 0;
    file.Release(piece.text);
  });
  body.whole_lines = std::count(open.begin(), open.end(), 1) == 0;
  if (body.whole_lines) {
    for (Piece& piece : body.pieces) piece.rows = piece.lines;
    body.pieces.back().rows += 1;  // the last line, whose newline was cut off with the blank end
  } else {
    body.pieces = CutAtRows(text, layout.separator);
  }
  for (Piece& piece : body.pieces) {
    piece.first_row = body.rows;
    piece.first_line = first_line;
    body.rows += piece.rows;
    first_line += piece.lines;
  }
  return body;
}

// Parses a piece into rows of `stride` numbers.
void ParsePiece(const CsvLayout& layout, const Piece& piece, bool whole_lines,
                std::vector<LevelCodes>* levels, double* row, Index stride) {
  const char* p = piece.text.data();
  const char* const end = p + piece.text.size();
  Index line = piece.first_line;
  for (Index n = 0; n < piece.rows; ++n, row += stride) {
    const char* row_end = end;
    if (!whole_lines) {
      row_end = internal::RowEnd(p, end, layout.separator);
    } else if (p != end) {
      const auto* newline = static_cast<const char*>(std::memchr(p, '\n', end - p));
      if (newline) row_end = newline;
    }
    internal::ParseRow(layout, p, row_end, line, levels, row);
    line += whole_lines ? 1 : 1 + std::count(p, row_end, '\n');
    p = row_end == end ? end : row_end + 1;
  }
}

// Replaces the pieces' own numbers of strings by places in one list per column.
void UniteLevels(const CsvLayout& layout, const Body& body,
                 const std::vector<std::vector<LevelCodes>>& levels, const ThreadPool& pool,
                 Table* table) {
  for (std::size_t c = 0; c < layout.names.size(); ++c) {
    const Index column = layout.destinations[c];
    if (column < 0 || !layout.text[c]) continue;
    table->levels.resize(table->columns.size());
    std::vector<const LevelCodes*> codes;
    for (const std::vector<LevelCodes>& piece : levels) codes.push_back(&piece[column]);
    std::vector<std::vector<Index>> places;
    table->levels[column] = internal::MergeLevels(codes, &places);
    pool.Run(static_cast<Index>(body.pieces.size()), [&](Index k) {
      for (Index n = 0; n < body.pieces[k].rows; ++n) {
        double& value = table->values(body.pieces[k].first_row + n, column);
        if (value != value) continue;
        const Index place = places[k][static_cast<std::size_t>(value)];
        value = place < 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(place);
      }
    });
  }
}

void ReadBody(const FileBytes& file, const CsvLayout& layout, std::string_view text,
              Index first_line, int threads, Table* table) {
  const ThreadPool pool(text.size() <= kPiece ? 1 : threads);
  const Body body = CutBody(file, layout, text, first_line, pool);
  const auto columns = static_cast<Index>(table->columns.size());
  std::vector<std::vector<LevelCodes>> levels(body.pieces.size());
  const bool any_text = std::count(layout.text.begin(), layout.text.end(), 1) > 0;

  // Every field takes a byte, its separator. Fewer bytes than cells: some line is too short, and a
  // small file must not make us ask for a huge matrix before we find it.
  if (body.rows > (static_cast<Index>(text.size()) + 1) / static_cast<Index>(layout.names.size())) {
    std::vector<double> scratch(static_cast<std::size_t>(columns));
    std::vector<LevelCodes> ignored(scratch.size());
    for (const Piece& piece : body.pieces)
      ParsePiece(layout, piece, body.whole_lines, &ignored, scratch.data(), 0);
  }
  table->values.resize(body.rows, columns);
  pool.Run(static_cast<Index>(body.pieces.size()), [&](Index k) {
    const Piece& piece = body.pieces[k];
    if (any_text) levels[k].resize(table->columns.size());
    ParsePiece(layout, piece, body.whole_lines, &levels[k],
               table->values.data() + piece.first_row * columns, columns);
    file.Discard(piece.text);
  });
  if (any_text) UniteLevels(layout, body, levels, pool, table);
}

// A file whose header was read.
struct OpenedCsv {
  CsvLayout layout;
  std::string_view body;  // without blank lines at its end
  Index header_lines = 0;
};

OpenedCsv Open(const FileBytes& file, const ReadOptions& options) {
  OpenedCsv csv;
  csv.layout.source = file.name();
  std::string_view text = file.bytes();
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  internal::RefuseForeignFormats(csv.layout.source, text);
  RefuseNul(csv.layout.source, text.substr(0, 1 << 16));

  csv.header_lines = internal::ReadHeader(options, &text, &csv.layout);
  while (!text.empty() &&
         (text.back() == '\n' || internal::IsBlank(text.back(), csv.layout.separator))) {
    text.remove_suffix(1);
  }
  if (text.empty())
    ThrowError(csv.layout.source, ": has a header but no rows; add rows of numbers");
  csv.body = text;
  return csv;
}

void AppendText(const std::string& text, std::string* line) {
  const bool plain = !text.empty() && text.find_first_of(",;\t\"\r\n") == std::string::npos &&
                     text.front() != ' ' && text.back() != ' ';
  if (plain) {
    *line += text;
    return;
  }
  *line += '"';
  for (const char c : text) line->append(c == '"' ? 2 : 1, c);
  *line += '"';
}

}  // namespace

Table ReadCsv(const FileBytes& file, const ReadOptions& options) {
  OpenedCsv csv = Open(file, options);
  CsvLayout& layout = csv.layout;
  Table table;
  table.source = layout.source;
  if (!layout.named) table.unnamed_columns = static_cast<Index>(layout.names.size());
  table.columns = internal::ChooseColumns(options, csv.body, &layout);
  for (std::size_t c = 0; c < layout.names.size(); ++c) {
    if (layout.destinations[c] < 0) table.left_out.push_back(layout.names[c]);
  }
  ReadBody(file, layout, csv.body, csv.header_lines + 1, options.threads, &table);
  return table;
}

std::vector<std::string> ReadCsvNames(const FileBytes& file, const ReadOptions& options) {
  return Open(file, options).layout.names;
}

std::vector<std::string> ReadCsvStrings(const FileBytes& file, const std::string& column,
                                        const ReadOptions& options) {
  const OpenedCsv csv = Open(file, options);
  const CsvLayout& layout = csv.layout;
  const Index place = FindColumn(layout.source, layout.names, column);
  std::vector<std::string> cells;
  const char* p = csv.body.data();
  const char* const end = p + csv.body.size();
  for (Index line = csv.header_lines + 1;; ++p) {
    const std::vector<internal::CsvField> fields = internal::FieldsOfRow(p, end, layout.separator);
    if (fields.size() != layout.names.size())
      internal::ThrowRagged(layout, line, static_cast<Index>(fields.size()));
    const internal::CsvField& field = fields[static_cast<std::size_t>(place)];
    if (field.problem != nullptr) {
      ThrowError(layout.source, ": line ", line, ", column ", Quoted(column), ": ", field.problem,
                 " in ", Quoted(field.text), "; mend the quotes");
    }
    cells.push_back(internal::Unescape(field));
    const char* const row_end = fields.back().next;
    line += 1 + std::count(p, row_end, '\n');
    p = row_end;
    if (p == end) return cells;
  }
}

void WriteCsv(std::ostream& out, const std::vector<std::string>& columns, const Matrix& values,
              const std::vector<std::vector<std::string>>& levels) {
  FATHOM_CHECK(static_cast<Index>(columns.size()) == values.cols());
  FATHOM_CHECK(levels.empty() || levels.size() == columns.size());
  std::string line;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (c > 0) line += ',';
    AppendText(columns[c], &line);
  }
  line += '\n';
  out << line;
  for (Index n = 0; n < values.rows(); ++n) {
    line.clear();
    for (Index c = 0; c < values.cols(); ++c) {
      if (c > 0) line += ',';
      const double value = values(n, c);
      if (value != value) {
        line += "NaN";
      } else if (!levels.empty() && !levels[c].empty()) {
        AppendText(levels[c][static_cast<std::size_t>(value)], &line);
      } else {
        char digits[32];
        line.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
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
