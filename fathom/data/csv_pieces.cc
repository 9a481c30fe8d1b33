#include "fathom/data/csv_pieces.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "fathom/base/error.h"
#include "fathom/data/column_moments.h"
#include "fathom/data/csv_layout.h"
#include "fathom/data/csv_ranks.h"

namespace fathom::internal {

namespace {

constexpr std::size_t kPiece = 1 << 20;

// Pieces of about a megabyte, cut at line ends, and where a file ends that other ranks can open.
std::vector<CsvPiece> CutAtLines(const FileBytes& file, std::string_view body) {
  std::vector<CsvPiece> pieces;
  const auto cut = [&](std::size_t size) {
    pieces.push_back({body.substr(0, size)});
    body.remove_prefix(size);
  };
  const auto cut_up_to = [&](std::size_t end) {
    while (end > kPiece) {
      const std::size_t newline = body.find('\n', kPiece);
      if (newline == std::string_view::npos || newline + 1 > end) break;
      end -= newline + 1;
      cut(newline + 1);
    }
    if (end > 0 && end < body.size() && body[end - 1] == '\n') cut(end);
  };
  for (const FileBytes::Extent& extent : file.extents()) {
    const char* const end = file.bytes().data() + extent.place + extent.size;
    const bool inside = end > body.data() && end < body.data() + body.size();
    if (inside) cut_up_to(static_cast<std::size_t>(end - body.data()));
  }
  cut_up_to(body.size());
  if (!body.empty() || pieces.empty()) cut(body.size());
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
    if (RowEnd(line, end, separator) > line_end) return true;
    p = line_end;
  }
  return false;
}

// Pieces of about a megabyte where rows may run over several lines, found by reading all fields.
std::vector<CsvPiece> CutAtRows(const FileBytes& file, std::string_view body, char separator) {
  std::vector<CsvPiece> pieces;
  const char* p = body.data();
  const char* const end = p + body.size();
  const char* begin = p;
  Index rows = 0;
  while (p != end) {
    p = RowEnd(p, end, separator);
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

// Whoever may share the work: text that was rewritten stands in no file that others could open, and
// a single piece is not worth a message.
const Communicator& RanksFor(const FileBytes& file, const OpenedCsv& csv,
                             const ReadOptions& options) {
  const bool shared = options.ranks != nullptr && csv.text.own == nullptr &&
                      !file.extents().empty() && csv.body.size() > 2 * kPiece;
  return shared ? *options.ranks : Alone();
}

}  // namespace

PieceLook LookAt(std::string_view text, char separator) {
  return {.lines = std::count(text.begin(), text.end(), '\n'),
          .open_quote = HasOpenQuote(text, separator),
          .zero_byte = text.find('\0') != std::string_view::npos};
}

void ParsePiece(const CsvLayout& layout, const CsvPiece& piece, bool whole_lines,
                std::vector<LevelCodes>* levels, double* row, Index stride) {
  const char* p = piece.text.data();
  const char* const end = p + piece.text.size();
  Index line = piece.first_line;
  for (Index n = 0; n < piece.rows; ++n, row += stride) {
    const char* row_end = end;
    if (!whole_lines) {
      row_end = RowEnd(p, end, layout.separator);
    } else if (p != end) {
      const auto* newline = static_cast<const char*>(std::memchr(p, '\n', end - p));
      if (newline) row_end = newline;
    }
    ParseRow(layout, p, row_end, line, levels, row);
    line += whole_lines ? 1 : 1 + std::count(p, row_end, '\n');
    p = row_end == end ? end : row_end + 1;
  }
}

RowRange ShareOf(int rank, int ranks, Index rows) {
  constexpr Index kGroup = ColumnMoments::kGroupRows;
  const Index groups = (rows + kGroup - 1) / kGroup;
  const auto first = [&](int r) { return std::min(rows, groups * r / ranks * kGroup); };
  return {first(rank), first(rank + 1)};
}

Index ParseShare(const CsvLayout& layout, const ShareOfPieces& share, const ThreadPool& pool,
                 const std::function<void(std::string_view text)>& release, RowSink* sink,
                 std::vector<LevelCodes>* levels) {
  const auto [begin, end] = share.range;
  levels->assign(static_cast<std::size_t>(share.columns), {});
  std::vector<Index> mine;
  for (Index k = 0; k < std::ssize(share.pieces); ++k) {
    const CsvPiece& piece = share.pieces[k];
    if (piece.first_row < end && piece.first_row + piece.rows > begin) mine.push_back(k);
  }
  const Index some = pool.size();
  for (Index first = 0; first < std::ssize(mine); first += some) {
    const Index count = std::min(some, std::ssize(mine) - first);
    std::vector<Matrix> rows(static_cast<std::size_t>(count));
    std::vector<std::vector<LevelCodes>> own(rows.size());
    std::vector<char> faults(rows.size());
    pool.Run(count, [&](Index i) {
      const CsvPiece& piece = share.pieces[mine[first + i]];
      rows[i].resize(piece.rows, share.columns);
      own[i].resize(static_cast<std::size_t>(share.columns));
      try {
        ParsePiece(layout, piece, share.whole_lines, &own[i], rows[i].data(), share.columns);
      } catch (const Error&) {
        faults[i] = 1;
      }
      release(piece.text);
    });
    for (Index i = 0; i < count; ++i) {
      if (faults[i] != 0) return mine[first + i];
      const CsvPiece& piece = share.pieces[mine[first + i]];
      Renumber(own[i], levels, &rows[i]);
      const Index from = std::max<Index>(0, begin - piece.first_row);
      const Index to = std::min(piece.rows, end - piece.first_row);
      sink->Add(to - from == piece.rows ? rows[i] : Matrix(rows[i].middleRows(from, to - from)));
    }
  }
  return -1;
}

CsvPieces::CsvPieces(const FileBytes& file, const OpenedCsv& csv, const ReadOptions& options,
                     Index columns)
    : file_(file),
      csv_(csv),
      columns_(columns),
      pool_(csv.body.size() <= kPiece ? 1 : options.threads),
      helpers_(std::make_unique<PieceHelpers>(RanksFor(file, csv, options), file, csv.layout,
                                              options, columns)) {
  Cut();
}

CsvPieces::~CsvPieces() = default;

void CsvPieces::Cut() {
  pieces_ = CutAtLines(file_, csv_.body);
  const std::vector<PieceLook> looks = helpers_->Look(pieces_, pool_);
  for (std::size_t k = 0; k < looks.size(); ++k) {
    if (looks[k].zero_byte) RefuseNul(csv_.layout.source, pieces_[k].text);
    pieces_[k].lines = pieces_[k].rows = looks[k].lines;
    whole_lines_ = whole_lines_ && !looks[k].open_quote;
  }
  pieces_.back().rows += 1;  // the last line, whose newline was cut off with the blank end
  if (!whole_lines_) pieces_ = CutAtRows(file_, csv_.body, csv_.layout.separator);
  Index line = csv_.header_lines + 1;
  for (CsvPiece& piece : pieces_) {
    piece.first_row = rows_;
    piece.first_line = line;
    rows_ += piece.rows;
    line += piece.lines;
  }
}

Index CsvPieces::some() const {
  constexpr Index kMost = 8;  // of up to 4 MB each
  const Index workers = helpers_->workers();
  if (workers == 1) return std::min<Index>(kMost, pool_.size());
  return workers < kMost ? kMost / workers * workers : kMost;
}

void CsvPieces::Parse(Index first, std::span<Parsed> parsed) const {
  // What comes from other ranks waits in memory until it is put into its place.
  const Index most = helpers_->workers() == 1 ? std::ssize(parsed) : some();
  for (Index done = 0; done < std::ssize(parsed); done += most) {
    const auto begin = static_cast<std::size_t>(done);
    const auto count = static_cast<std::size_t>(std::min(most, std::ssize(parsed) - done));
    ParseRound(first + done, parsed.subspan(begin, count));
  }
}

void CsvPieces::ParseRound(Index first, std::span<Parsed> parsed) const {
  const std::span pieces =
      std::span(pieces_).subspan(static_cast<std::size_t>(first), parsed.size());
  const std::vector<char> faults = helpers_->Parse(pieces, whole_lines_, parsed, pool_);
  for (std::size_t i = 0; i < faults.size(); ++i) {
    if (faults[i] != 0) ThrowFault(pieces[i]);
  }
}

void CsvPieces::ThrowFault(const CsvPiece& piece) const {
  // Whoever has found the fault did not know the line.
  std::vector<double> row(static_cast<std::size_t>(columns_));
  std::vector<LevelCodes> levels(row.size());
  ParsePiece(csv_.layout, piece, whole_lines_, &levels, row.data(), 0);
  ThrowError(csv_.layout.source,
             ": was changed while it was read; try again when nothing writes to it");
}

bool CsvPieces::MayStay() const { return helpers_->AllCanParse(pieces_); }

std::vector<std::vector<LevelCodes>> CsvPieces::ParseShares(RowSink* sink) const {
  Index fault = -1;
  std::vector<std::vector<LevelCodes>> levels =
      helpers_->ParseShares(pieces_, whole_lines_, sink, pool_, &fault);
  if (fault >= 0) ThrowFault((*this)[fault]);
  return levels;
}

}  // namespace fathom::internal
