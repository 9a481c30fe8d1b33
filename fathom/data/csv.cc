#include "fathom/data/csv.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <string_view>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/base/threads.h"
#include "fathom/data/column_kinds.h"
#include "fathom/data/csv_layout.h"
#include "fathom/data/csv_open.h"
#include "fathom/data/csv_row.h"
#include "fathom/io/text_encoding.h"

namespace fathom {
namespace {

using internal::CsvLayout;
using internal::LevelCodes;
using internal::OpenedCsv;
using internal::RefuseNul;

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
std::vector<Piece> CutAtRows(const FileBytes& file, std::string_view body, char separator) {
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
      file.Release(text);
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
    body.pieces = CutAtRows(file, text, layout.separator);
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

void ReadBody(const FileBytes& file, const OpenedCsv& csv, int threads, Table* table) {
  const CsvLayout& layout = csv.layout;
  const std::string_view text = csv.body;
  const Index first_line = csv.header_lines + 1;
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
    file.Release(piece.text);
  });
  if (any_text) UniteLevels(layout, body, levels, pool, table);
}

// Gives the columns of strings of one piece the numbers that they have in the whole file.
void Renumber(const std::vector<LevelCodes>& own, std::vector<LevelCodes>* all, Matrix* rows) {
  for (std::size_t c = 0; c < own.size(); ++c) {
    if (own[c].texts().empty()) continue;
    std::vector<double> codes;
    for (const std::string& text : own[c].texts()) {
      const Index code = (*all)[c].Code(text);
      codes.push_back(code < 0 ? std::numeric_limits<double>::quiet_NaN()
                               : static_cast<double>(code));
    }
    for (double& value : rows->col(static_cast<Index>(c))) {
      if (value == value) value = codes[static_cast<std::size_t>(value)];
    }
  }
}

// ReadBody for a sink. A few pieces at a time are parsed, side by side.
void StreamBody(const FileBytes& file, const OpenedCsv& csv, int threads, Index columns,
                RowSink* sink, std::vector<LevelCodes>* all) {
  constexpr Index kMostPieces = 8;  // of up to 4 MB each
  const CsvLayout& layout = csv.layout;
  const ThreadPool pool(csv.body.size() <= kPiece ? 1 : threads);
  const Index at_a_time = std::min<Index>(pool.size(), kMostPieces);
  const Body body = CutBody(file, layout, csv.body, csv.header_lines + 1, pool);
  sink->Start(columns);
  all->assign(static_cast<std::size_t>(columns), {});
  for (Index first = 0; first < std::ssize(body.pieces); first += at_a_time) {
    const Index count = std::min(at_a_time, std::ssize(body.pieces) - first);
    std::vector<Matrix> rows(static_cast<std::size_t>(count));
    std::vector<std::vector<LevelCodes>> levels(static_cast<std::size_t>(count));
    pool.Run(count, [&](Index i) {
      const Piece& piece = body.pieces[first + i];
      levels[i].resize(static_cast<std::size_t>(columns));
      rows[i].resize(piece.rows, columns);
      ParsePiece(layout, piece, body.whole_lines, &levels[i], rows[i].data(), columns);
      file.Release(piece.text);
    });
    for (Index i = 0; i < count; ++i) {
      Renumber(levels[i], all, &rows[i]);
      sink->Add(rows[i]);
    }
  }
}

// What is known when all cells are read.
void FinishTable(const OpenedCsv& csv, std::vector<Note> formats, Table* table) {
  const CsvLayout& layout = csv.layout;
  table->notes = csv.notes;
  bool decoded = layout.decoded;
  for (std::vector<std::string>& levels : table->levels) {
    for (std::string& level : levels) {
      if (IsUtf8(level)) continue;
      level = ToUtf8(level);
      decoded = true;
    }
  }
  if (decoded) {
    table->notes.push_back(
        {"encoding", 1, layout.source + ": is not UTF-8; read as Windows-1252 (Latin-1)"});
  }
  table->notes.insert(table->notes.end(), formats.begin(), formats.end());
  for (std::size_t c = 0; c < layout.names.size(); ++c) {
    const bool plain = layout.formats[c].kind == CellFormat::Kind::kPlain;
    if (layout.destinations[c] < 0 || layout.text[c] != 0 || plain) continue;
    table->formats.resize(table->columns.size());
    table->formats[layout.destinations[c]] = layout.formats[c];
  }
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

// Opens the file and reads its body by read(csv, table), which may be asked twice: again with other
// kinds of columns, where a cell was not what the first lines have promised.
template <typename ReadRows>
Table ReadWhole(const FileBytes& file, const ReadOptions& options, const ReadRows& read) {
  OpenedCsv csv = internal::OpenCsv(file, options);
  CsvLayout& layout = csv.layout;
  Table table;
  table.source = layout.source;
  table.missing = options.missing;
  if (!layout.named) table.unnamed_columns = static_cast<Index>(layout.names.size());
  table.columns = internal::ChooseColumns(options, &layout);
  for (std::size_t c = 0; c < layout.names.size(); ++c) {
    if (layout.destinations[c] < 0) table.left_out.push_back(layout.names[c]);
  }
  if (layout.has_index && layout.destinations[0] >= 0) table.index_column = layout.names[0];
  std::vector<Note> formats;
  internal::FindKinds(options, file, csv.body, internal::Evidence::kFirstLines, &layout, &formats);
  try {
    read(csv, &table);
  } catch (const Error&) {
    // Now all lines are asked.
    const CsvLayout first = layout;
    formats.clear();
    internal::FindKinds(options, file, csv.body, internal::Evidence::kEverything, &layout,
                        &formats);
    if (layout.text == first.text && layout.formats == first.formats) throw;
    table.levels.clear();
    read(csv, &table);
  }
  FinishTable(csv, std::move(formats), &table);
  return table;
}
}  // namespace

Table ReadCsv(const FileBytes& file, const ReadOptions& options) {
  return ReadWhole(file, options, [&](const OpenedCsv& csv, Table* table) {
    ReadBody(file, csv, options.threads, table);
  });
}

Table StreamCsv(const FileBytes& file, const ReadOptions& options, RowSink* sink,
                LevelPlaces* places) {
  constexpr std::size_t kStart = 1 << 16;
  constexpr std::size_t kMostRewritten = 64 << 20;
  if (file.bytes().size() > kMostRewritten &&
      internal::ToCsvText(file.name(), file.bytes().substr(0, kStart), options.separator).own) {
    ThrowError(file.name(), ": its text (UTF-16, or cells between blanks) would have to be written",
               " anew in memory; save the table as UTF-8 with commas");
  }
  return ReadWhole(file, options, [&](const OpenedCsv& csv, Table* table) {
    const auto columns = static_cast<Index>(table->columns.size());
    std::vector<LevelCodes> all;
    StreamBody(file, csv, options.threads, columns, sink, &all);
    places->assign(static_cast<std::size_t>(columns), {});
    for (std::size_t c = 0; c < csv.layout.names.size(); ++c) {
      const Index column = csv.layout.destinations[c];
      if (column < 0 || !csv.layout.text[c]) continue;
      table->levels.resize(static_cast<std::size_t>(columns));
      std::vector<std::vector<Index>> of_one;
      table->levels[column] = internal::MergeLevels({&all[column]}, &of_one);
      (*places)[column] = std::move(of_one.front());
    }
  });
}

std::vector<std::string> ReadCsvNames(const FileBytes& file, const ReadOptions& options) {
  return internal::OpenCsv(file, options).layout.names;
}

std::vector<std::string> ReadCsvStrings(const FileBytes& file, const std::string& column,
                                        const ReadOptions& options) {
  return ReadCsvColumns(file, {column}, options).cells.front();
}

TextColumns ReadCsvColumns(const FileBytes& file, const std::vector<std::string>& columns,
                           const ReadOptions& options) {
  const OpenedCsv csv = internal::OpenCsv(file, options);
  const CsvLayout& layout = csv.layout;
  TextColumns wanted;
  std::vector<Index> places;
  const bool all = columns == std::vector<std::string>{"all"} &&
                   std::count(layout.names.begin(), layout.names.end(), "all") == 0;
  for (const std::string& name : all ? layout.names : columns) {
    places.push_back(FindColumn(layout.source, layout.names, name));
    wanted.names.push_back(layout.names[static_cast<std::size_t>(places.back())]);
  }
  wanted.cells.resize(places.size());
  const char* p = csv.body.data();
  const char* const end = p + csv.body.size();
  for (Index line = csv.header_lines + 1;; ++p) {
    const std::vector<internal::CsvField> fields = internal::FieldsOfRow(p, end, layout.separator);
    if (fields.size() != layout.names.size())
      internal::ThrowRagged(layout, line, static_cast<Index>(fields.size()));
    for (std::size_t k = 0; k < places.size(); ++k) {
      const internal::CsvField& field = fields[static_cast<std::size_t>(places[k])];
      if (field.problem != nullptr) {
        ThrowError(layout.PlaceOf(line), ", column ", Quoted(wanted.names[k]), ": ", field.problem,
                   " in ", Quoted(field.text), "; mend the quotes");
      }
      wanted.cells[k].push_back(ToUtf8(internal::Unescape(field)));
    }
    const char* const row_end = fields.back().next;
    line += 1 + std::count(p, row_end, '\n');
    p = row_end;
    if (p == end) return wanted;
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
