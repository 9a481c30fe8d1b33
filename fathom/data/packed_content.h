// What a packed table consists of, in memory and in its file. Used by packed_table.cc only.
#ifndef FATHOM_DATA_PACKED_CONTENT_H_
#define FATHOM_DATA_PACKED_CONTENT_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "fathom/data/packed_block.h"
#include "fathom/data/read_table.h"
#include "fathom/data/table.h"
#include "fathom/distributed/communicator.h"
#include "fathom/io/scratch_file.h"

namespace fathom::internal {

struct PackedContent {
  struct Block {
    std::uint64_t offset = 0, hash = 0;
  };

  ScratchFile file;
  std::string name;  // for messages
  Table head = {};
  Index rows = 0;
  Index block_rows = 1;
  std::vector<Block> blocks = {};
  std::vector<CellWidth> widths = {};  // [blocks, columns]
  LevelPlaces places = {};
  bool was_kept = false;
  const Communicator* ranks = &Alone();  // who hold the rows
  Index first = 0, all_rows = 0;         // of the rows that are here, among those of all ranks

  std::span<const CellWidth> WidthsOf(Index block) const {
    const std::size_t columns = head.columns.size();
    return std::span(widths).subspan(static_cast<std::size_t>(block) * columns, columns);
  }
  Index RowsOf(Index block) const { return std::min(block_rows, rows - block * block_rows); }
};

// Writes blocks as rows come in.
class BlockWriter : public RowSink {
 public:
  // Keeps a reference to the content.
  BlockWriter(PackedContent* content, bool takes_share)
      : content_(*content), takes_share_(takes_share) {}

  bool TakesShare() const override { return takes_share_; }
  void StartShare(Index columns, Index first, Index all_rows) override;
  void Start(Index columns) override;
  void Add(const Matrix& rows) override;

  // After the last row. What no other process opens needs no index.
  void Finish();
  // The same with an index, for a copy that was made of what has this hash.
  void Finish(std::uint64_t source);

 private:
  void Flush();

  PackedContent& content_;
  bool takes_share_;
  std::uint64_t offset_ = 0;
  Matrix waiting_;
  Index filled_ = 0;
};

// Reads what Finish has written. Returns the hash of what the copy was made of. Throws Error if it
// is damaged, or no packed table.
std::uint64_t ReadIndex(PackedContent* content);
[[noreturn]] void ThrowDamaged(const std::string& name);

nlohmann::json HeadJson(const Table& head, const LevelPlaces& places);
void HeadFromJson(const nlohmann::json& json, Table* head, LevelPlaces* places);

// Cells of strings get their places among the levels.
void PutPlaces(const LevelPlaces& places, Matrix* rows);

}  // namespace fathom::internal

#endif  // FATHOM_DATA_PACKED_CONTENT_H_
