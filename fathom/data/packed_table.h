// A table that need not fit into memory: a copy of its cells on disk, of which any rows can be read
// again at once.
#ifndef FATHOM_DATA_PACKED_TABLE_H_
#define FATHOM_DATA_PACKED_TABLE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/data/read_table.h"
#include "fathom/data/table.h"

namespace fathom FATHOM_PUBLIC {

namespace internal {
struct PackedContent;
}

struct PackOptions {
  // A file to keep the copy in, which is used again if it was made of the same bytes in the same
  // way. Empty: the copy is gone with the object, or with the process.
  std::string keep = {};
  std::string folder = {};  // for files that are not kept; empty: ScratchFolder
  // Whether rows may stay with the ranks that parse them, in memory if it has room for so many
  // bytes at each.
  bool share = false;
  double memory = 0;
};

// Cells in blocks of rows, row after row. In each block a column takes 1, 2, 4 or 8 bytes per cell,
// whatever holds its numbers to the bit. Copies share the file; any number of threads may read.
class PackedTable {
 public:
  // Reads the table once, piece after piece; its text takes no memory either, even if it is packed
  // by gzip or comes through a pipe. Throws Error as ReadTable does; if the disk is full, or the
  // table changes meanwhile; and if `keep` is no packed copy, or a damaged one.
  PackedTable(const std::string& path, const ReadOptions& reading, const PackOptions& options);

  const Table& head() const;  // the table without its rows
  Index rows() const;         // that are here
  // Those who hold all rows together, and where ours stand among them.
  const Communicator& ranks() const;
  Index first() const;
  Index all_rows() const;
  bool was_kept() const;  // the file was there already
  double bytes() const;   // on disk

  // The cells of the given rows, [rows, columns], as in Table::values.
  Matrix Read(std::span<const Index> rows) const;
  Matrix Read(Index first, Index count) const;
  // All rows that are here in their order, some thousands at a time. Throws Error if the copy has
  // changed.
  void ForEachBlock(const std::function<void(Index first, const Matrix& rows)>& visit) const;

 private:
  friend class PackedShare;
  explicit PackedTable(std::shared_ptr<const internal::PackedContent> content)
      : content_(std::move(content)) {}
  std::shared_ptr<const internal::PackedContent> content_;
};

// Whether rows of the file could stay with ranks: there are several, and it is text that they can
// open and read in pieces, which pays.
bool MayStayWithRanks(const std::string& path, const ReadOptions& reading);

// The rows that stay with a rank other than the first. The calls answer the orders of the first
// rank, which makes a PackedTable.
class PackedShare {
 public:
  explicit PackedShare(const Communicator& ranks);  // after Order::kPack
  ~PackedShare();
  RowSink* sink();       // for HelpReading
  PackedTable Finish();  // after Order::kPacked

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom

#endif  // FATHOM_DATA_PACKED_TABLE_H_
