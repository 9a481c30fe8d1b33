#include "study/data_folder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <unordered_set>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "fathom/base/text.h"
#include "fathom/data/bits.h"
#include "fathom/data/csv.h"
#include "fathom/io/file_bytes.h"
#include "study/made_data.h"

namespace fathom {

namespace {

namespace fs = std::filesystem;

constexpr const char* kLayout =
    "a dataset is a folder with data.csv and test_indices.txt (see docs/how-to/studies.md)";

std::vector<std::string> FoldersIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.is_directory(ignored)) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void RequireDataset(const std::string& folder, const std::string& name) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    ThrowError(folder, ": there is no such folder; name the one that holds the datasets");
  const fs::path place = fs::path(folder) / name;
  if (!fs::is_directory(place, ignored)) {
    ThrowError(folder, ": there is no dataset ", Quoted(name), DidYouMean(name, FoldersIn(folder)),
               " ", kLayout);
  }
  for (const char* file : {"data.csv", "test_indices.txt"}) {
    if (!fs::exists(place / file, ignored))
      ThrowError((place / file).string(), ": there is no such file; ", kLayout);
  }
}

// The next line of *text, without its end, which is removed from *text.
std::string_view NextLine(std::string_view* text) {
  const std::size_t end = std::min(text->find('\n'), text->size());
  std::string_view line = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::vector<std::string> OnlyThose(const std::vector<std::string>& names,
                                   const std::vector<std::string>& that_are_in) {
  std::vector<std::string> kept;
  for (const std::string& name : names) {
    if (std::count(that_are_in.begin(), that_are_in.end(), name) > 0) kept.push_back(name);
  }
  return kept;
}

Index ParseRow(const std::string& source, Index line, std::string_view word, Index rows) {
  Index row = -1;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), row);
  if (problem != std::errc() || end != word.data() + word.size() || row < 0 || row >= rows) {
    ThrowError(source, ": line ", line, ": ", Quoted(word), " is not a row number from 0 to ",
               rows - 1);
  }
  return row;
}

Split ParseSplit(const std::string& source, Index line, std::string_view text, Index rows) {
  constexpr std::string_view kBlanks = " \t";
  std::vector<bool> held_out(static_cast<std::size_t>(rows), false);
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (text.empty()) break;
    const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
    const auto row = static_cast<std::size_t>(ParseRow(source, line, text.substr(0, end), rows));
    if (held_out[row])
      ThrowError(source, ": line ", line, ": row ", row, " stands there twice; name it once");
    held_out[row] = true;
    text.remove_prefix(end);
  }
  Split split;
  for (Index n = 0; n < rows; ++n)
    (held_out[static_cast<std::size_t>(n)] ? split.held_out : split.train).push_back(n);
  if (split.held_out.empty() || split.train.empty()) {
    ThrowError(source, ": line ", line, ": leaves no row to ",
               split.train.empty() ? "train" : "test", " on; each line is a split of its own");
  }
  return split;
}

// The number behind the @ of "boston@200".
Index RowsAfter(const std::string& name, std::size_t at) {
  Index rows = 0;
  const char* const end = name.data() + name.size();
  const auto [last, problem] = std::from_chars(name.data() + at + 1, end, rows);
  if (problem != std::errc() || last != end || rows < 1)
    ThrowError("dataset ", Quoted(name), ": behind @ stands no number of training rows; write, ",
               "for example, ", name.substr(0, at), "@200");
  return rows;
}

// Leaves so many rows to train on, at random; up to 1000 of all others are there to test on.
void CutTo(Index rows, const std::string& name, SplitData* data) {
  constexpr Index kMostTestRows = 1000;
  for (std::size_t s = 0; s < data->splits.size(); ++s) {
    Split& split = data->splits[s];
    const auto all = static_cast<Index>(split.train.size());
    if (all < rows)
      ThrowError("dataset ", Quoted(name), ": has only ", all, " rows to train on; ask for fewer");
    RandomStream stream(1, static_cast<std::uint64_t>(s));
    Split cut;
    for (const Index place : stream.Permutation(all)) {
      const bool is_kept = static_cast<Index>(cut.train.size()) < rows;
      (is_kept ? cut.train : cut.held_out).push_back(split.train[static_cast<std::size_t>(place)]);
    }
    cut.held_out.insert(cut.held_out.begin(), split.held_out.begin(), split.held_out.end());
    if (static_cast<Index>(cut.held_out.size()) > kMostTestRows) cut.held_out.resize(kMostTestRows);
    std::sort(cut.train.begin(), cut.train.end());
    std::sort(cut.held_out.begin(), cut.held_out.end());
    split = std::move(cut);
  }
}

}  // namespace

std::vector<Split> ParseSplits(const std::string& source, std::string_view text, Index rows) {
  std::vector<Split> splits;
  while (!text.empty()) {
    const std::string_view line = NextLine(&text);
    splits.push_back(ParseSplit(source, static_cast<Index>(splits.size()) + 1, line, rows));
  }
  if (splits.empty())
    ThrowError(source, ": is empty; write a line per split with the numbers of its test rows");
  return splits;
}

SplitData LoadSplitData(const std::string& folder, const std::string& name,
                        const DataFolderOptions& options) {
  if (const std::size_t at = name.rfind('@'); at != std::string::npos) {
    SplitData data = LoadSplitData(folder, name.substr(0, at), options);
    CutTo(RowsAfter(name, at), name, &data);
    return data;
  }
  std::error_code ignored;
  const bool is_there = !folder.empty() && fs::is_directory(fs::path(folder) / name, ignored);
  if (CanMakeData(name) && !is_there) {
    SplitData made = MakeData(name);
    made.roles = options.roles;
    made.roles.targets = {made.table.columns.back()};
    return made;
  }
  RequireDataset(folder, name);
  const fs::path place = fs::path(folder) / name;
  const std::string path = (place / "data.csv").string();
  const ReadOptions reading{.threads = 1, .separator = ','};
  const FileBytes file(path);
  const std::vector<std::string> header = ReadCsvNames(file, reading);
  const std::vector<std::string> bits = OnlyThose(options.bits, header);
  SplitData data;
  data.roles = options.roles;
  data.roles.targets = {header.back()};
  data.roles.ignore = OnlyThose(options.roles.ignore, header);
  data.roles.categorical = OnlyThose(options.roles.categorical, header);
  data.table = ReadTableWithBits(file, ReadingFor(data.roles, reading), BitColumns(bits));
  const std::string splits = (place / "test_indices.txt").string();
  data.splits = ParseSplits(splits, FileBytes(splits).bytes(), data.table.values.rows());
  return data;
}

Table TableRows(const Table& table, const std::vector<Index>& rows) {
  return {table.source,  table.columns,      table.values(rows, Eigen::all),
          table.levels,  table.left_out,     table.unnamed_columns,
          table.formats, table.index_column, table.missing,
          table.notes};
}

std::vector<Index> UnseenRows(const Table& table, const Split& split) {
  const auto bytes = [&](Index row) {
    return std::string_view(reinterpret_cast<const char*>(table.values.row(row).data()),
                            static_cast<std::size_t>(table.values.cols()) * sizeof(double));
  };
  std::unordered_set<std::string_view> seen;
  for (const Index row : split.train) seen.insert(bytes(row));
  std::vector<Index> unseen;
  for (std::size_t place = 0; place < split.held_out.size(); ++place) {
    if (!seen.contains(bytes(split.held_out[place]))) unseen.push_back(static_cast<Index>(place));
  }
  return unseen;
}

}  // namespace fathom
