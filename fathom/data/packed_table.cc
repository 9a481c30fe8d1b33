#include "fathom/data/packed_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/data/csv_text.h"
#include "fathom/data/format_json.h"
#include "fathom/data/npy.h"
#include "fathom/data/packed_block.h"
#include "fathom/data/packed_content.h"
#include "fathom/data/table_parts.h"
#include "fathom/distributed/orders.h"
#include "fathom/io/file_bytes.h"
#include "fathom/io/json_text.h"
#include "fathom/io/scratch_file.h"

namespace fathom {

using internal::BlockWriter;
using internal::CellWidth;
using internal::FormatsJson;
using internal::HashBytes;
using internal::PackedContent;

namespace {

using Json = nlohmann::json;

// All that decides how the bytes of a file become cells.
std::uint64_t HashOf(const ReadOptions& options) {
  Json only = Json::array();
  for (const ReadOptions::Column& column : options.only) {
    only.push_back(
        {column.name, column.text, FormatsJson({column.format}), column.may_hold_anything});
  }
  const Json json = {options.separator,
                     options.decimal,
                     static_cast<int>(options.date_order),
                     options.missing,
                     static_cast<int>(options.header),
                     options.ignore,
                     options.text,
                     options.numbers,
                     options.faulty_cells_are_missing,
                     only,
                     options.names};
  return HashBytes(JsonBytes(json));
}

std::uint64_t HashOf(const FileBytes& file, const ReadOptions& options) {
  constexpr std::size_t kPart = 1 << 20;
  std::uint64_t hash = HashOf(options);
  for (std::string_view left = file.bytes(); !left.empty();
       left.remove_prefix(std::min(kPart, left.size()))) {
    hash = HashBytes(left.substr(0, kPart), hash);
    file.Release(left.substr(0, kPart));
  }
  return hash;
}

// Whether files are still as they were.
class Unchanged {
 public:
  explicit Unchanged(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) files_.emplace_back(path, StateOf(path));
  }
  void Check() const {
    for (const auto& [path, state] : files_) {
      if (StateOf(path) != state)
        ThrowError(path, ": was changed while it was read; try again when nothing writes to it");
    }
  }

 private:
  using State = std::pair<std::uintmax_t, std::filesystem::file_time_type>;
  static State StateOf(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) return {};
    return {std::filesystem::file_size(path, ignored),
            std::filesystem::last_write_time(path, ignored)};
  }
  std::vector<std::pair<std::string, State>> files_;
};

std::string FolderOf(const PackOptions& options) {
  if (!options.keep.empty()) {
    const std::filesystem::path parent = std::filesystem::path(options.keep).parent_path();
    return parent.empty() ? "." : parent.string();
  }
  return options.folder.empty() ? ScratchFolder() : options.folder;
}

// What every rank must know of a table whose rows stay with them.
std::string ShareMessage(const Table& head, const std::vector<LevelPlaces>& places) {
  return JsonBytes({head.source, internal::HeadJson(head, places.front()), places});
}

}  // namespace

struct PackedShare::State {
  explicit State(const Communicator& all, bool in_memory)
      : ranks(all),
        content(std::make_shared<PackedContent>(PackedContent{
            .file = in_memory ? ScratchFile::InMemory() : ScratchFile(ScratchFolder(), kShareName),
            .name = kShareName})),
        writer(content.get(), true) {
    content->ranks = &ranks;
  }
  static constexpr const char* kShareName = "this rank's share of the table";
  const Communicator& ranks;
  std::shared_ptr<PackedContent> content;
  BlockWriter writer;
};

PackedShare::PackedShare(const Communicator& ranks) {
  bool in_memory = false;
  ranks.Broadcast(std::span(&in_memory, 1));
  state_ = std::make_unique<State>(ranks, in_memory);
}

PackedShare::~PackedShare() = default;

RowSink* PackedShare::sink() { return &state_->writer; }

PackedTable PackedShare::Finish() {
  std::string message;
  state_->ranks.Broadcast(&message);
  const Json json = JsonFromBytes(message);
  const std::shared_ptr<PackedContent> content = state_->content;
  internal::HeadFromJson(json.at(1), &content->head, &content->places);
  content->head.source = json.at(0).get<std::string>();
  json.at(2).at(static_cast<std::size_t>(state_->ranks.rank())).get_to(content->places);
  state_->writer.Finish();
  return PackedTable(content);
}

PackedTable::PackedTable(const std::string& path, const ReadOptions& reading,
                         const PackOptions& options) {
  const std::string folder = FolderOf(options);
  const Unchanged unchanged(PartsOf(path));
  const FileBytes file = OpenTable(path, reading, {.through_disk = true, .folder = folder});
  const std::string what = "the packed copy of " + file.name();
  const bool keep = !options.keep.empty();
  const std::uint64_t source = keep ? HashOf(file, reading) : 0;
  if (keep && std::filesystem::exists(options.keep)) {
    auto old = std::make_shared<PackedContent>(
        PackedContent{.file = ScratchFile::Open(options.keep, what), .name = options.keep});
    if (internal::ReadIndex(old.get()) == source) {
      old->head.source = file.name();
      old->was_kept = true;
      content_ = std::move(old);
      ForEachBlock([](Index, const Matrix&) {});  // finds damage
      return;
    }
  }
  const bool share = options.share && !keep;
  const Communicator& ranks = share && reading.ranks != nullptr ? *reading.ranks : Alone();
  bool in_memory = share && options.memory > static_cast<double>(file.bytes().size());
  GiveOrder(Order::kPack, ranks);
  ranks.Broadcast(std::span(&in_memory, 1));
  auto content = std::make_shared<PackedContent>(
      PackedContent{.file = in_memory ? ScratchFile::InMemory() : ScratchFile(folder, what),
                    .name = keep ? options.keep : what});
  BlockWriter writer(content.get(), share);
  std::vector<LevelPlaces> places;
  content->head = StreamTable(file, reading, &writer, &places);
  content->places = places.front();
  if (keep) {
    writer.Finish(source);
  } else {
    writer.Finish();
  }
  unchanged.Check();
  if (keep) content->file.KeepAs(options.keep);
  if (places.size() > 1) {
    content->ranks = &ranks;
    GiveOrder(Order::kPacked, ranks);
    std::string message = ShareMessage(content->head, places);
    ranks.Broadcast(&message);
  }
  content_ = std::move(content);
}

bool MayStayWithRanks(const std::string& path, const ReadOptions& reading) {
  constexpr std::uint64_t kWorthIt = 2 << 20;
  constexpr std::size_t kStart = 1 << 16;
  if (reading.ranks == nullptr || reading.ranks->size() == 1) return false;
  std::uint64_t size = 0;
  for (const std::string& part : PartsOf(path)) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(part, ignored)) return false;
    const FileBytes file(part);
    const std::string_view start = file.bytes().substr(0, kStart);
    if (start.starts_with("\x1f\x8b") || IsNpy(start)) return false;  // the first is gzip's
    if (internal::ToCsvText(part, start, reading.separator).own != nullptr) return false;
    size += file.bytes().size();
  }
  return size > kWorthIt;
}

const Table& PackedTable::head() const { return content_->head; }
Index PackedTable::rows() const { return content_->rows; }
const Communicator& PackedTable::ranks() const { return *content_->ranks; }
Index PackedTable::first() const { return content_->first; }
Index PackedTable::all_rows() const { return content_->all_rows; }
bool PackedTable::was_kept() const { return content_->was_kept; }
double PackedTable::bytes() const { return static_cast<double>(content_->file.size()); }

Matrix PackedTable::Read(std::span<const Index> rows) const {
  const PackedContent& content = *content_;
  Matrix cells(std::ssize(rows), std::ssize(content.head.columns));
  std::string bytes;
  for (std::size_t i = 0; i < rows.size();) {
    FATHOM_CHECK(rows[i] >= 0 && rows[i] < content.rows);
    const Index block = rows[i] / content.block_rows;
    const Index in_block = rows[i] % content.block_rows;
    // Neighbours of one block are read at once.
    Index run = 1;
    while (i + static_cast<std::size_t>(run) < rows.size() &&
           rows[i + static_cast<std::size_t>(run)] == rows[i] + run &&
           in_block + run < content.block_rows)
      ++run;
    const std::span<const CellWidth> widths = content.WidthsOf(block);
    const std::size_t row_bytes = internal::RowBytes(widths);
    bytes.resize(static_cast<std::size_t>(run) * row_bytes);
    content.file.Read(
        content.blocks[block].offset + static_cast<std::uint64_t>(in_block) * row_bytes,
        bytes.data(), bytes.size());
    internal::UnpackRows(bytes, widths, static_cast<Index>(i), &cells);
    i += static_cast<std::size_t>(run);
  }
  internal::PutPlaces(content.places, &cells);
  return cells;
}

Matrix PackedTable::Read(Index first, Index count) const {
  std::vector<Index> rows;
  for (Index n = first; n < first + count; ++n) rows.push_back(n);
  return Read(rows);
}

void PackedTable::ForEachBlock(
    const std::function<void(Index first, const Matrix& rows)>& visit) const {
  const PackedContent& content = *content_;
  std::string bytes;
  Matrix cells;
  for (Index block = 0; block < std::ssize(content.blocks); ++block) {
    const std::span<const CellWidth> widths = content.WidthsOf(block);
    const Index rows = content.RowsOf(block);
    bytes.resize(static_cast<std::size_t>(rows) * internal::RowBytes(widths));
    content.file.Read(content.blocks[block].offset, bytes.data(), bytes.size());
    if (!content.file.in_memory() && HashBytes(bytes) != content.blocks[block].hash)
      internal::ThrowDamaged(content.name);
    cells.resize(rows, std::ssize(widths));
    internal::UnpackRows(bytes, widths, 0, &cells);
    internal::PutPlaces(content.places, &cells);
    visit(block * content.block_rows, cells);
  }
}

}  // namespace fathom
