// The body of a CSV file in pieces, which threads and ranks parse side by side. Used by csv*.cc
// only.
#ifndef FATHOM_DATA_CSV_PIECES_H_
#define FATHOM_DATA_CSV_PIECES_H_

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "fathom/base/threads.h"
#include "fathom/data/csv_open.h"
#include "fathom/data/csv_row.h"
#include "fathom/data/read_table.h"

namespace fathom::internal {

class PieceHelpers;

// A part of the body, rows whole, that one thread parses at a time.
struct CsvPiece {
  std::string_view text;
  Index rows = 0, lines = 0;            // of its own
  Index first_row = 0, first_line = 0;  // where it begins
};

// What must be known of a piece before rows can be told apart.
struct PieceLook {
  Index lines = 0;
  bool open_quote = false;  // a quoted field runs over the end of a line
  bool zero_byte = false;   // it is no text
};
PieceLook LookAt(std::string_view text, char separator);

// Parses a piece into rows of `stride` numbers. Throws Error for the first fault.
void ParsePiece(const CsvLayout& layout, const CsvPiece& piece, bool whole_lines,
                std::vector<LevelCodes>* levels, double* row, Index stride);

// The rows of one rank where they stay where they are parsed: an equal part of the table, but for
// its edges, which ColumnMoments wants between its groups.
struct RowRange {
  Index begin = 0, end = 0;
};
RowRange ShareOf(int rank, int ranks, Index rows);

// Parses those rows of the pieces that lie in the range, some pieces at a time. Numbers strings as
// *levels does, which learns them. release(text) gives the text of a piece back. Returns the place
// of the first piece with a fault, or -1.
struct ShareOfPieces {
  std::span<const CsvPiece> pieces;
  bool whole_lines = true;
  Index columns = 0;
  RowRange range = {};
};
Index ParseShare(const CsvLayout& layout, const ShareOfPieces& share, const ThreadPool& pool,
                 const std::function<void(std::string_view text)>& release, RowSink* sink,
                 std::vector<LevelCodes>* levels);

class CsvPieces {
 public:
  // Cuts the body into pieces of about a megabyte, and works at them with the ranks of the options
  // where that pays. `columns` are those of the table. Keeps references to file and csv. Throws
  // Error for zero bytes.
  CsvPieces(const FileBytes& file, const OpenedCsv& csv, const ReadOptions& options, Index columns);
  ~CsvPieces();
  CsvPieces(const CsvPieces&) = delete;
  CsvPieces& operator=(const CsvPieces&) = delete;

  Index size() const { return std::ssize(pieces_); }
  const CsvPiece& operator[](Index k) const { return pieces_[static_cast<std::size_t>(k)]; }
  Index rows() const { return rows_; }
  bool whole_lines() const { return whole_lines_; }  // every line is a row
  const ThreadPool& pool() const { return pool_; }
  // How many pieces to parse at a time if their rows shall take little memory: one for each thread,
  // or some for each rank, so that ranks seldom wait for each other.
  Index some() const;

  // Rows in room for them, of as many numbers as the table has columns, and the strings of its
  // columns.
  struct Parsed {
    double* rows;
    std::vector<LevelCodes> levels = {};  // [columns]
  };
  // Parses pieces first, first + 1, ..., one into each of `parsed`. Throws Error for the first
  // fault among them, with its line, whoever has found it.
  void Parse(Index first, std::span<Parsed> parsed) const;

  // Whether every rank can parse every piece.
  bool MayStay() const;
  // Each rank parses its share into a sink of its own. Returns the strings of their columns,
  // [ranks, columns]. Throws Error for the first fault.
  std::vector<std::vector<LevelCodes>> ParseShares(RowSink* sink) const;

 private:
  void Cut();
  void ParseRound(Index first, std::span<Parsed> parsed) const;
  [[noreturn]] void ThrowFault(const CsvPiece& piece) const;

  const FileBytes& file_;
  const OpenedCsv& csv_;
  Index columns_;  // of the table
  ThreadPool pool_;
  std::unique_ptr<PieceHelpers> helpers_;
  std::vector<CsvPiece> pieces_;
  bool whole_lines_ = true;
  Index rows_ = 0;
};

}  // namespace fathom::internal

#endif  // FATHOM_DATA_CSV_PIECES_H_
