// How ranks parse the pieces of a CSV file together. Rank 0 knows the file: where it is cut, what
// its columns hold and on which line a piece begins. The others open the same file, if they can,
// and parse what they are told to. Their cells go to rank 0.
#ifndef FATHOM_DATA_CSV_RANKS_H_
#define FATHOM_DATA_CSV_RANKS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "fathom/base/threads.h"
#include "fathom/data/csv_pieces.h"
#include "fathom/data/csv_row.h"
#include "fathom/data/read_table.h"
#include "fathom/distributed/communicator.h"

namespace fathom {

// The other ranks, after Order::kRead: helps with one table. A rank that cannot open the file, or
// sees another one under its name, gets no work. `sink` takes the rows that stay here, if rank 0's
// sink takes a share; else it may be null.
void HelpReading(const Communicator& ranks, RowSink* sink = nullptr);

namespace internal {

// At rank 0. Alone, all of this is free.
class PieceHelpers {
 public:
  // Keeps references to the first three. `columns` are those of the table.
  PieceHelpers(const Communicator& ranks, const FileBytes& file, const CsvLayout& layout,
               const ReadOptions& options, Index columns);
  ~PieceHelpers();
  PieceHelpers(const PieceHelpers&) = delete;
  PieceHelpers& operator=(const PieceHelpers&) = delete;

  // Ranks that work, this one included.
  Index workers() const { return std::ssize(workers_); }
  // What all pieces look like.
  std::vector<PieceLook> Look(std::span<const CsvPiece> pieces, const ThreadPool& pool) const;
  // Parses pieces into the room for each. Returns which of them have a fault.
  std::vector<char> Parse(std::span<const CsvPiece> pieces, bool whole_lines,
                          std::span<CsvPieces::Parsed> parsed, const ThreadPool& pool) const;

  // Whether all ranks see all pieces, and there are others.
  bool AllCanParse(std::span<const CsvPiece> pieces) const;
  // CsvPieces::ParseShares, with the place of the first piece that has a fault, or -1.
  std::vector<std::vector<LevelCodes>> ParseShares(std::span<const CsvPiece> pieces,
                                                   bool whole_lines, RowSink* sink,
                                                   const ThreadPool& pool, Index* fault) const;

 private:
  // Tells the others what to do. Returns which rank does which piece.
  std::vector<int> Deal(std::span<const CsvPiece> pieces, std::int64_t work) const;
  // Calls job(i) for every piece of rank 0.
  template <typename Job>
  void DoMine(const std::vector<int>& rank_of, const ThreadPool& pool, const Job& job) const;

  const Communicator& ranks_;
  const FileBytes& file_;
  const CsvLayout& layout_;
  Index columns_;
  std::vector<int> workers_;  // their ranks; the first is 0
  mutable Parcels in_, out_;  // memory that is kept between rounds
};

}  // namespace internal

}  // namespace fathom

#endif  // FATHOM_DATA_CSV_RANKS_H_
