#include "fathom/data/csv_ranks.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/data/format_json.h"
#include "fathom/distributed/orders.h"
#include "fathom/io/json_text.h"

namespace fathom {

namespace internal {

namespace {

using Json = nlohmann::json;

// What every rank is told of a round, and of each piece in it.
struct ReadRound {
  enum Work : std::int64_t { kNothingMore, kLook, kParseLines, kParseRows };
  std::int64_t work = kNothingMore;
  std::int64_t pieces = 0;
};
struct PieceOfRound {
  std::int64_t rank = 0;
  std::int64_t begin = 0, end = 0;  // among the bytes of the table
  std::int64_t rows = 0;
};

// The file, and all of the layout that decides how a cell is read. Places are not among it: a rank
// that finds a fault does not know the line.
Json ReadingJson(const FileBytes& file, const CsvLayout& layout, const ReadOptions& options,
                 Index columns) {
  Json extents = Json::array();
  for (const FileBytes::Extent& extent : file.extents()) {
    const FileBytes::Identity& identity = extent.identity;
    extents.push_back({extent.path, identity.inode, identity.size, identity.modified, extent.place,
                       extent.offset, extent.size});
  }
  return {{"extents", extents},         {"separator", static_cast<int>(layout.separator)},
          {"names", layout.names},      {"destinations", layout.destinations},
          {"text", layout.text},        {"formats", FormatsJson(layout.formats)},
          {"written", layout.written},  {"anything", layout.anything},
          {"missing", options.missing}, {"columns", columns},
          {"threads", options.threads}};
}

// Tries to parse. Whether there was a fault.
bool HasFault(const CsvLayout& layout, const CsvPiece& piece, bool whole_lines, Index columns,
              CsvPieces::Parsed* parsed) {
  parsed->levels.resize(static_cast<std::size_t>(columns));
  try {
    ParsePiece(layout, piece, whole_lines, &parsed->levels, parsed->rows, columns);
  } catch (const Error&) {
    return true;
  }
  return false;
}

// A table that another rank has opened.
class HelpedReading {
 public:
  explicit HelpedReading(const std::string& message) {
    const Json json = JsonFromBytes(message);
    layout_.separator = static_cast<char>(json.at("separator").get<int>());
    json.at("names").get_to(layout_.names);
    json.at("destinations").get_to(layout_.destinations);
    json.at("text").get_to(layout_.text);
    layout_.formats = FormatsFromJson(json.at("formats"));
    json.at("written").get_to(layout_.written);
    json.at("anything").get_to(layout_.anything);
    layout_.missing = MissingWords(json.at("missing").get<std::vector<std::string>>());
    json.at("columns").get_to(columns_);
    pool_.emplace(json.at("threads").get<int>());
    for (const Json& one : json.at("extents")) {
      extents_.push_back(
          {.path = one.at(0),
           .identity = {.inode = one.at(1), .size = one.at(2), .modified = one.at(3)},
           .place = one.at(4),
           .offset = one.at(5),
           .size = one.at(6)});
    }
  }

  // Whether the files are here, and the same ones.
  bool Open() {
    try {
      for (const FileBytes::Extent& extent : extents_) {
        const FileBytes& file = files_.emplace_back(extent.path);
        if (file.extents().empty() || file.extents().front().identity != extent.identity)
          return false;
      }
    } catch (const Error&) {
      return false;
    }
    return true;
  }

  std::string Look(std::span<const PieceOfRound> mine) const {
    std::vector<PieceLook> looks(mine.size());
    pool_->Run(std::ssize(mine), [&](Index i) {
      const auto [file, text] = Find(mine[i]);
      looks[i] = LookAt(text, layout_.separator);
      file->Release(text);
    });
    return {reinterpret_cast<const char*>(looks.data()), looks.size() * sizeof(PieceLook)};
  }

  // Appends the cells to *cells. Returns the faults and the strings.
  std::string Parse(std::span<const PieceOfRound> mine, bool whole_lines,
                    std::vector<double>* cells) const {
    std::vector<CsvPieces::Parsed> parsed;
    Index rows = 0;
    for (const PieceOfRound& piece : mine) rows += piece.rows;
    cells->resize(static_cast<std::size_t>(rows * columns_));
    double* next = cells->data();
    for (const PieceOfRound& piece : mine) {
      parsed.push_back({next});
      next += piece.rows * columns_;
    }
    std::vector<char> faults(mine.size());
    pool_->Run(std::ssize(mine), [&](Index i) {
      const auto [file, text] = Find(mine[i]);
      const CsvPiece piece{.text = text, .rows = mine[i].rows};
      faults[i] = HasFault(layout_, piece, whole_lines, columns_, &parsed[i]) ? 1 : 0;
      file->Release(text);
    });
    Json levels = Json::array();
    for (const CsvPieces::Parsed& piece : parsed) {
      Json of_columns = Json::array();
      for (const LevelCodes& codes : piece.levels) of_columns.push_back(codes.texts());
      levels.push_back(std::move(of_columns));
    }
    return JsonBytes({faults, levels});
  }

  Index columns() const { return columns_; }

 private:
  std::pair<const FileBytes*, std::string_view> Find(const PieceOfRound& piece) const {
    const auto begin = static_cast<std::size_t>(piece.begin);
    const auto end = static_cast<std::size_t>(piece.end);
    const auto found =
        std::find_if(extents_.begin(), extents_.end(), [&](const FileBytes::Extent& extent) {
          return extent.place <= begin && end <= extent.place + extent.size;
        });
    FATHOM_CHECK(found != extents_.end());
    const FileBytes& file = files_[static_cast<std::size_t>(found - extents_.begin())];
    return {&file, file.bytes().substr(found->offset + begin - found->place, end - begin)};
  }

  CsvLayout layout_;
  Index columns_ = 0;
  std::optional<ThreadPool> pool_;
  std::vector<FileBytes::Extent> extents_;
  std::vector<FileBytes> files_;  // [extents]
};

bool IsInAFile(const FileBytes& file, const PieceOfRound& piece) {
  return std::ranges::any_of(file.extents(), [&](const FileBytes::Extent& extent) {
    return std::cmp_less_equal(extent.place, piece.begin) &&
           std::cmp_less_equal(piece.end, extent.place + extent.size);
  });
}

}  // namespace

PieceHelpers::PieceHelpers(const Communicator& ranks, const FileBytes& file,
                           const CsvLayout& layout, const ReadOptions& options, Index columns)
    : ranks_(ranks), file_(file), layout_(layout), columns_(columns), workers_{0} {
  if (ranks_.size() == 1) return;
  std::string message = JsonBytes(ReadingJson(file, layout, options, columns));
  GiveOrder(Order::kRead, ranks_);
  ranks_.Broadcast(&message);
  const std::vector<std::string> able = ranks_.Gather("");
  for (int r = 1; r < ranks_.size(); ++r) {
    if (!able[r].empty()) workers_.push_back(r);
  }
}

PieceHelpers::~PieceHelpers() {
  if (ranks_.size() == 1 || ranks_.left()) return;
  try {
    ReadRound end;
    ranks_.Broadcast(std::span(&end, 1));
  } catch (const Error&) {
    ranks_.Leave();
  }
}

std::vector<int> PieceHelpers::Deal(std::span<const CsvPiece> pieces, std::int64_t work) const {
  std::vector<int> rank_of(pieces.size());
  if (ranks_.size() == 1) return rank_of;
  std::vector<PieceOfRound> told;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::string_view text = pieces[i].text;
    PieceOfRound piece{.begin = text.data() - file_.bytes().data(), .rows = pieces[i].rows};
    piece.end = piece.begin + std::ssize(text);
    if (IsInAFile(file_, piece)) piece.rank = workers_[i % workers_.size()];
    rank_of[i] = static_cast<int>(piece.rank);
    told.push_back(piece);
  }
  ReadRound round{.work = work, .pieces = std::ssize(told)};
  ranks_.Broadcast(std::span(&round, 1));
  ranks_.Broadcast(std::span(told));
  return rank_of;
}

template <typename Job>
void PieceHelpers::DoMine(const std::vector<int>& rank_of, const ThreadPool& pool,
                          const Job& job) const {
  try {
    pool.Run(std::ssize(rank_of), [&](Index i) {
      if (rank_of[i] == 0) job(i);
    });
  } catch (...) {
    if (ranks_.size() > 1) ranks_.Leave();  // in the middle of a round
    throw;
  }
}

std::vector<PieceLook> PieceHelpers::Look(std::span<const CsvPiece> pieces,
                                          const ThreadPool& pool) const {
  const std::vector<int> rank_of = Deal(pieces, ReadRound::kLook);
  std::vector<PieceLook> looks(pieces.size());
  DoMine(rank_of, pool, [&](Index i) {
    looks[i] = LookAt(pieces[i].text, layout_.separator);
    file_.Release(pieces[i].text);
  });
  const std::vector<std::string> seen = ranks_.Gather("");
  std::vector<std::size_t> next(seen.size(), 0);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (rank_of[i] == 0) continue;
    std::size_t& from = next[rank_of[i]];
    std::memcpy(&looks[i], seen[rank_of[i]].data() + from, sizeof(PieceLook));
    from += sizeof(PieceLook);
  }
  return looks;
}

std::vector<char> PieceHelpers::Parse(std::span<const CsvPiece> pieces, bool whole_lines,
                                      std::span<CsvPieces::Parsed> parsed,
                                      const ThreadPool& pool) const {
  const std::vector<int> rank_of =
      Deal(pieces, whole_lines ? ReadRound::kParseLines : ReadRound::kParseRows);
  std::vector<char> faults(pieces.size());
  DoMine(rank_of, pool, [&](Index i) {
    faults[i] = HasFault(layout_, pieces[i], whole_lines, columns_, &parsed[i]) ? 1 : 0;
    file_.Release(pieces[i].text);
  });
  if (ranks_.size() == 1) return faults;
  const std::vector<std::string> told = ranks_.Gather("");
  out_.Clear(ranks_.size());
  in_.Await(ranks_.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (rank_of[i] != 0) in_.counts[rank_of[i]] += pieces[i].rows * columns_;
  }
  ranks_.Exchange(out_, &in_);
  const double* next = in_.values.data();
  for (const int rank : workers_) {
    if (rank == 0) continue;
    const Json json = JsonFromBytes(told[rank]);
    std::size_t of_rank = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (rank_of[i] != rank) continue;
      faults[i] = json.at(0).at(of_rank).get<char>();
      parsed[i].levels.resize(static_cast<std::size_t>(columns_));
      for (std::size_t c = 0; c < parsed[i].levels.size(); ++c) {
        for (const Json& text : json.at(1).at(of_rank).at(c))
          parsed[i].levels[c].Code(text.get_ref<const std::string&>());
      }
      const Index numbers = pieces[i].rows * columns_;
      std::copy_n(next, numbers, parsed[i].rows);
      next += numbers;
      ++of_rank;
    }
  }
  return faults;
}

}  // namespace internal

void HelpReading(const Communicator& ranks) {
  std::string message;
  ranks.Broadcast(&message);
  internal::HelpedReading reading(message);
  ranks.Gather(reading.Open() ? "able" : "");
  Parcels out;
  Parcels in;
  for (;;) {
    internal::ReadRound round;
    ranks.Broadcast(std::span(&round, 1));
    if (round.work == internal::ReadRound::kNothingMore) return;
    std::vector<internal::PieceOfRound> mine(static_cast<std::size_t>(round.pieces));
    ranks.Broadcast(std::span(mine));
    std::erase_if(mine, [&](const auto& piece) { return piece.rank != ranks.rank(); });
    if (round.work == internal::ReadRound::kLook) {
      ranks.Gather(reading.Look(mine));
      continue;
    }
    out.Await(ranks.size());
    in.Await(ranks.size());
    const bool whole_lines = round.work == internal::ReadRound::kParseLines;
    ranks.Gather(reading.Parse(mine, whole_lines, &out.values));
    out.counts[0] = std::ssize(out.values);
    ranks.Exchange(out, &in);
  }
}

}  // namespace fathom
