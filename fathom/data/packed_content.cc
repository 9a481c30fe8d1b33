#include "fathom/data/packed_content.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "fathom/base/error.h"
#include "fathom/data/format_json.h"
#include "fathom/io/json_text.h"

namespace fathom::internal {

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

template <typename Number>
std::string_view BytesOf(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

}  // namespace

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

void BlockWriter::StartShare(Index columns, Index first, Index all_rows) {
  Start(columns);
  content_.first = first;
  content_.all_rows = all_rows;
}

void BlockWriter::Start(Index columns) {
  // A block is what is held in memory at a time.
  constexpr Index kMostRows = 4096;
  constexpr Index kMostCells = Index{1} << 19;
  content_.block_rows = std::clamp<Index>(kMostCells / std::max<Index>(columns, 1), 1, kMostRows);
  content_.rows = 0;
  content_.first = content_.all_rows = 0;
  content_.blocks.clear();
  content_.widths.clear();
  content_.file.Clear();
  content_.file.Write(kPackedMagic);
  offset_ = kPackedMagic.size();
  waiting_.resize(content_.block_rows, columns);
  filled_ = 0;
}

void BlockWriter::Add(const Matrix& rows) {
  for (Index taken = 0; taken < rows.rows();) {
    const Index count = std::min(rows.rows() - taken, content_.block_rows - filled_);
    waiting_.middleRows(filled_, count) = rows.middleRows(taken, count);
    filled_ += count;
    taken += count;
    if (filled_ == content_.block_rows) Flush();
  }
}

void BlockWriter::Finish() {
  Flush();
  waiting_.resize(0, 0);
  if (content_.all_rows == 0) content_.all_rows = content_.rows;
}

void BlockWriter::Finish(std::uint64_t source) {
  Finish();
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

void BlockWriter::Flush() {
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

void ThrowDamaged(const std::string& name) {
  ThrowError(name, ": is damaged; delete it, and it is made anew");
}

std::uint64_t ReadIndex(PackedContent* content) {
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
  const std::string_view head = std::string_view{tail}.substr(0, footer.head_size);
  const std::string_view index = std::string_view{tail}.substr(footer.head_size);
  const std::size_t block_bytes = sizeof(PackedContent::Block);
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
  content->rows = content->all_rows = static_cast<Index>(footer.rows);
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

}  // namespace fathom::internal
