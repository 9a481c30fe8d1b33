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
#include "fathom/data/format_json.h"
#include "fathom/data/packed_block.h"
#include "fathom/data/table_parts.h"
#include "fathom/io/file_bytes.h"
#include "fathom/io/json_text.h"
#include "fathom/io/scratch_file.h"

namespace fathom {

using internal::CellWidth;
using internal::FormatsFromJson;
using internal::FormatsJson;
using internal::HashBytes;

struct PackedTable::Content {
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

  std::span<const CellWidth> WidthsOf(Index block) const {
    const std::size_t columns = head.columns.size();
    return std::span(widths).subspan(static_cast<std::size_t>(block) * columns, columns);
  }
  Index RowsOf(Index block) const { return std::min(block_rows, rows - block * block_rows); }
};

namespace {

using Json = nlohmann::json;

constexpr std::string_view kPackedMagic = "fathom packed table 1\n";

// The last bytes of the file.
struct Footer {
  std::uint64_t rows = 0, block_rows = 0, blocks = 0;
  std::uint64_t source = 0;               // hash of what the copy was made of
  std::uint64_t head = 0, head_size = 0;  // where the head stands
  std::uint64_t hash = 0;                 // of head and index
  std::array<char, 24> magic = {};
};

Json HeadJson(const Table& head, const LevelPlaces& places) {
  Json notes = Json::array();
  for (const Note& note : head.notes) notes.push_back({note.kind, note.count, note.text});
  return {{"columns", head.columns},
          {"levels", head.levels},
          {"left_out", head.left_out},
          {"unnamed_columns", head.unnamed_columns},
          {"formats", FormatsJson(head.formats)},
          {"index_column", head.index_column},
          {"missing", head.missing},
          {"notes", notes},
          {"places", places}};
}

void HeadFromJson(const Json& json, Table* head, LevelPlaces* places) {
  json.at("columns").get_to(head->columns);
  json.at("levels").get_to(head->levels);
  json.at("left_out").get_to(head->left_out);
  json.at("unnamed_columns").get_to(head->unnamed_columns);
  head->formats = FormatsFromJson(json.at("formats"));
  json.at("index_column").get_to(head->index_column);
  json.at("missing").get_to(head->missing);
  for (const Json& note : json.at("notes")) {
    head->notes.push_back(
        {note.at(0).get<std::string>(), note.at(1).get<Index>(), note.at(2).get<std::string>()});
  }
  json.at("places").get_to(*places);
}

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

template <typename Number>
std::string_view BytesOf(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

// Writes blocks as rows come in.
template <typename Content>
class BlockWriter : public RowSink {
 public:
  explicit BlockWriter(Content* content) : content_(*content) {}

  void Start(Index columns) override {
    // A block is what is held in memory at a time.
    constexpr Index kMostRows = 4096;
    constexpr Index kMostCells = Index{1} << 19;
    content_.block_rows = std::clamp<Index>(kMostCells / std::max<Index>(columns, 1), 1, kMostRows);
    content_.rows = 0;
    content_.blocks.clear();
    content_.widths.clear();
    content_.file.Clear();
    content_.file.Write(kPackedMagic);
    offset_ = kPackedMagic.size();
    waiting_.resize(content_.block_rows, columns);
    filled_ = 0;
  }

  void Add(const Matrix& rows) override {
    for (Index taken = 0; taken < rows.rows();) {
      const Index count = std::min(rows.rows() - taken, content_.block_rows - filled_);
      waiting_.middleRows(filled_, count) = rows.middleRows(taken, count);
      filled_ += count;
      taken += count;
      if (filled_ == content_.block_rows) Flush();
    }
  }

  void Finish(std::uint64_t source) {
    Flush();
    const std::string head = JsonBytes(HeadJson(content_.head, content_.places));
    Footer footer{.rows = static_cast<std::uint64_t>(content_.rows),
                  .block_rows = static_cast<std::uint64_t>(content_.block_rows),
                  .blocks = content_.blocks.size(),
                  .source = source,
                  .head = offset_,
                  .head_size = head.size()};
    const auto write = [&](std::string_view bytes) {
      content_.file.Write(bytes);
      footer.hash = HashBytes(bytes, footer.hash);
    };
    write(head);
    write(BytesOf(content_.blocks));
    write(BytesOf(content_.widths));
    std::copy(kPackedMagic.begin(), kPackedMagic.end(), footer.magic.begin());
    content_.file.Write({reinterpret_cast<const char*>(&footer), sizeof(footer)});
  }

 private:
  void Flush() {
    if (filled_ == 0) return;
    const Matrix rows = waiting_.topRows(filled_);
    const std::vector<CellWidth> widths = internal::NarrowestWidths(rows);
    const std::string bytes = internal::PackRows(rows, widths);
    content_.file.Write(bytes);
    content_.blocks.push_back({offset_, HashBytes(bytes)});
    content_.widths.insert(content_.widths.end(), widths.begin(), widths.end());
    content_.rows += filled_;
    offset_ += bytes.size();
    filled_ = 0;
  }

  Content& content_;
  std::uint64_t offset_ = 0;
  Matrix waiting_;
  Index filled_ = 0;
};

[[noreturn]] void ThrowDamaged(const std::string& name) {
  ThrowError(name, ": is damaged; delete it, and it is made anew");
}

// Reads what Finish has written. Returns the hash of what the copy was made of.
template <typename Content>
std::uint64_t ReadIndex(Content* content) {
  const ScratchFile& file = content->file;
  std::string magic(kPackedMagic.size(), '\0');
  const std::uint64_t size = file.size();
  if (size >= magic.size()) file.Read(0, magic.data(), magic.size());
  if (magic != kPackedMagic)
    ThrowError(content->name, ": is there already and no packed table; name another file");
  Footer footer;
  if (size < kPackedMagic.size() + sizeof(footer)) ThrowDamaged(content->name);
  const std::uint64_t end = size - sizeof(footer);
  file.Read(end, &footer, sizeof(footer));
  if (!std::equal(kPackedMagic.begin(), kPackedMagic.end(), footer.magic.begin()) ||
      footer.head > end || footer.head_size > end - footer.head)
    ThrowDamaged(content->name);
  std::string tail(end - footer.head, '\0');
  file.Read(footer.head, tail.data(), tail.size());
  const std::string_view head = std::string_view(tail).substr(0, footer.head_size);
  const std::string_view index = std::string_view(tail).substr(footer.head_size);
  const std::size_t block_bytes = sizeof(typename Content::Block);
  if (footer.blocks > index.size() / block_bytes) ThrowDamaged(content->name);
  const std::string_view blocks = index.substr(0, footer.blocks * block_bytes);
  const std::string_view widths = index.substr(blocks.size());
  if (HashBytes(widths, HashBytes(blocks, HashBytes(head))) != footer.hash)
    ThrowDamaged(content->name);
  try {
    HeadFromJson(JsonFromBytes(head), &content->head, &content->places);
  } catch (const Json::exception&) {
    ThrowDamaged(content->name);
  }
  content->rows = static_cast<Index>(footer.rows);
  content->block_rows = static_cast<Index>(footer.block_rows);
  content->blocks.resize(footer.blocks);
  std::memcpy(content->blocks.data(), blocks.data(), blocks.size());
  content->widths.resize(widths.size());
  std::memcpy(content->widths.data(), widths.data(), widths.size());
  const auto columns = content->head.columns.size();
  const bool good_widths = std::ranges::all_of(content->widths, [](CellWidth width) {
    return std::has_single_bit(static_cast<unsigned>(width)) && width <= CellWidth::kDouble;
  });
  const Index most_rows = std::ssize(content->blocks) * content->block_rows;
  if (!good_widths || widths.size() != footer.blocks * columns ||
      content->places.size() != columns || content->block_rows < 1 || content->rows > most_rows ||
      content->rows <= most_rows - content->block_rows)
    ThrowDamaged(content->name);
  return footer.source;
}

// Cells of strings get their places among the levels.
void PutPlaces(const LevelPlaces& places, Matrix* rows) {
  for (std::size_t c = 0; c < places.size(); ++c) {
    if (places[c].empty()) continue;
    for (double& value : rows->col(static_cast<Index>(c))) {
      if (value != value) continue;
      FATHOM_CHECK(value >= 0 && value < static_cast<double>(places[c].size()));
      const Index place = places[c][static_cast<std::size_t>(value)];
      value = place < 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(place);
    }
  }
}

std::string FolderOf(const PackOptions& options) {
  if (!options.keep.empty()) {
    const std::filesystem::path parent = std::filesystem::path(options.keep).parent_path();
    return parent.empty() ? "." : parent.string();
  }
  return options.folder.empty() ? ScratchFolder() : options.folder;
}

}  // namespace

PackedTable::PackedTable(const std::string& path, const ReadOptions& reading,
                         const PackOptions& options) {
  const std::string folder = FolderOf(options);
  const Unchanged unchanged(PartsOf(path));
  const FileBytes file = OpenTable(path, reading, {.through_disk = true, .folder = folder});
  const std::string what = "the packed copy of " + file.name();
  const bool keep = !options.keep.empty();
  const std::uint64_t source = keep ? HashOf(file, reading) : 0;
  if (keep && std::filesystem::exists(options.keep)) {
    auto old = std::make_shared<Content>(
        Content{.file = ScratchFile::Open(options.keep, what), .name = options.keep});
    if (ReadIndex(old.get()) == source) {
      old->head.source = file.name();
      old->was_kept = true;
      content_ = std::move(old);
      ForEachBlock([](Index, const Matrix&) {});  // finds damage
      return;
    }
  }
  auto content = std::make_shared<Content>(
      Content{.file = ScratchFile(folder, what), .name = keep ? options.keep : what});
  BlockWriter writer(content.get());
  content->head = StreamTable(file, reading, &writer, &content->places);
  writer.Finish(source);
  unchanged.Check();
  if (keep) content->file.KeepAs(options.keep);
  content_ = std::move(content);
}

const Table& PackedTable::head() const { return content_->head; }
Index PackedTable::rows() const { return content_->rows; }
bool PackedTable::was_kept() const { return content_->was_kept; }
double PackedTable::bytes() const { return static_cast<double>(content_->file.size()); }

Matrix PackedTable::Read(std::span<const Index> rows) const {
  const Content& content = *content_;
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
  PutPlaces(content.places, &cells);
  return cells;
}

Matrix PackedTable::Read(Index first, Index count) const {
  std::vector<Index> rows;
  for (Index n = first; n < first + count; ++n) rows.push_back(n);
  return Read(rows);
}

void PackedTable::ForEachBlock(
    const std::function<void(Index first, const Matrix& rows)>& visit) const {
  const Content& content = *content_;
  std::string bytes;
  Matrix cells;
  for (Index block = 0; block < std::ssize(content.blocks); ++block) {
    const std::span<const CellWidth> widths = content.WidthsOf(block);
    const Index rows = content.RowsOf(block);
    bytes.resize(static_cast<std::size_t>(rows) * internal::RowBytes(widths));
    content.file.Read(content.blocks[block].offset, bytes.data(), bytes.size());
    if (HashBytes(bytes) != content.blocks[block].hash) ThrowDamaged(content.name);
    cells.resize(rows, std::ssize(widths));
    internal::UnpackRows(bytes, widths, 0, &cells);
    PutPlaces(content.places, &cells);
    visit(block * content.block_rows, cells);
  }
}

}  // namespace fathom
