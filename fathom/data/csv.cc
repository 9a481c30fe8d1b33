#include "fathom/data/csv.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/data/column_kinds.h"
#include "fathom/data/csv_layout.h"
#include "fathom/data/csv_open.h"
#include "fathom/data/csv_pieces.h"
#include "fathom/data/csv_row.h"
#include "fathom/io/text_encoding.h"

namespace fathom {
namespace {

using internal::CsvLayout;
using internal::CsvPieces;
using internal::LevelCodes;
using internal::OpenedCsv;

// Replaces the pieces' own numbers of strings by places in one list per column.
void UniteLevels(const CsvLayout& layout, const CsvPieces& pieces,
                 const std::vector<CsvPieces::Parsed>& parsed, Table* table) {
  for (std::size_t c = 0; c < layout.names.size(); ++c) {
    const Index column = layout.destinations[c];
    if (column < 0 || !layout.text[c]) continue;
    table->levels.resize(table->columns.size());
    std::vector<const LevelCodes*> codes;
    for (const CsvPieces::Parsed& piece : parsed) codes.push_back(&piece.levels[column]);
    std::vector<std::vector<Index>> places;
    table->levels[column] = internal::MergeLevels(codes, &places);
    pieces.pool().Run(pieces.size(), [&](Index k) {
      for (Index n = 0; n < pieces[k].rows; ++n) {
        double& value = table->values(pieces[k].first_row + n, column);
        if (value != value) continue;
        const Index place = places[k][static_cast<std::size_t>(value)];
        value = place < 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(place);
      }
    });
  }
}

void ReadBody(const FileBytes& file, const OpenedCsv& csv, const ReadOptions& options,
              Table* table) {
  const CsvLayout& layout = csv.layout;
  const auto columns = static_cast<Index>(table->columns.size());
  const CsvPieces pieces(file, csv, options, columns);

  // Every field takes a byte, its separator. Fewer bytes than cells: some line is too short, and a
  // small file must not make us ask for a huge matrix before we find it.
  const auto most_cells = static_cast<Index>(csv.body.size()) + 1;
  if (pieces.rows() > most_cells / static_cast<Index>(layout.names.size())) {
    std::vector<double> scratch(static_cast<std::size_t>(columns));
    std::vector<LevelCodes> ignored(scratch.size());
    for (Index k = 0; k < pieces.size(); ++k)
      ParsePiece(layout, pieces[k], pieces.whole_lines(), &ignored, scratch.data(), 0);
  }
  table->values.resize(pieces.rows(), columns);
  std::vector<CsvPieces::Parsed> parsed;
  for (Index k = 0; k < pieces.size(); ++k)
    parsed.push_back({table->values.data() + pieces[k].first_row * columns});
  pieces.Parse(0, parsed);
  if (std::count(layout.text.begin(), layout.text.end(), 1) > 0)
    UniteLevels(layout, pieces, parsed, table);
}

// ReadBody for a sink. Returns the strings, [shares, columns].
std::vector<std::vector<LevelCodes>> StreamBody(const FileBytes& file, const OpenedCsv& csv,
                                                const ReadOptions& options, Index columns,
                                                RowSink* sink) {
  const CsvPieces pieces(file, csv, options, columns);
  if (sink->TakesShare() && pieces.MayStay()) return pieces.ParseShares(sink);
  sink->Start(columns);
  std::vector<LevelCodes> all(static_cast<std::size_t>(columns));
  for (Index first = 0; first < pieces.size(); first += pieces.some()) {
    std::vector<Matrix> rows;
    std::vector<CsvPieces::Parsed> parsed;
    for (Index k = first; k < std::min(first + pieces.some(), pieces.size()); ++k)
      parsed.push_back({rows.emplace_back(pieces[k].rows, columns).data()});
    pieces.Parse(first, parsed);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      internal::Renumber(parsed[i].levels, &all, &rows[i]);
      sink->Add(rows[i]);
    }
  }
  return {all};
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
    ReadBody(file, csv, options, table);
  });
}

Table StreamCsv(const FileBytes& file, const ReadOptions& options, RowSink* sink,
                std::vector<LevelPlaces>* places) {
  constexpr std::size_t kStart = 1 << 16;
  constexpr std::size_t kMostRewritten = 64 << 20;
  if (file.bytes().size() > kMostRewritten &&
      internal::ToCsvText(file.name(), file.bytes().substr(0, kStart), options.separator).own) {
    ThrowError(file.name(), ": its text (UTF-16, or cells between blanks) would have to be written",
               " anew in memory; save the table as UTF-8 with commas");
  }
  return ReadWhole(file, options, [&](const OpenedCsv& csv, Table* table) {
    const auto columns = static_cast<Index>(table->columns.size());
    const std::vector<std::vector<LevelCodes>> shares =
        StreamBody(file, csv, options, columns, sink);
    places->assign(shares.size(), LevelPlaces(static_cast<std::size_t>(columns)));
    for (std::size_t c = 0; c < csv.layout.names.size(); ++c) {
      const Index column = csv.layout.destinations[c];
      if (column < 0 || !csv.layout.text[c]) continue;
      table->levels.resize(static_cast<std::size_t>(columns));
      std::vector<const LevelCodes*> codes;
      for (const std::vector<LevelCodes>& share : shares) codes.push_back(&share[column]);
      std::vector<std::vector<Index>> of_shares;
      table->levels[column] = internal::MergeLevels(codes, &of_shares);
      for (std::size_t s = 0; s < shares.size(); ++s)
        (*places)[s][column] = std::move(of_shares[s]);
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
