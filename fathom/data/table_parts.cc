#include "fathom/data/table_parts.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/data/csv_open.h"
#include "fathom/data/npy.h"
#include "fathom/io/scratch_file.h"

namespace fathom {

namespace {

// What all parts must have in common.
struct Shape {
  std::vector<std::string> names;
  bool named;
  char separator;
};

void RequireSame(const Shape& first, const Shape& here, const std::string& first_name,
                 const std::string& name) {
  if (first.named != here.named) {
    ThrowError(name, here.named ? ": names its columns" : ": does not name its columns", ", but ",
               first_name, here.named ? " does not" : " does", "; make the parts alike");
  }
  if (first.names.size() != here.names.size()) {
    ThrowError(name, ": has ", here.names.size(), " columns, but ", first_name, " has ",
               first.names.size(), "; give all parts the same columns");
  }
  const auto [a, b] = std::mismatch(first.names.begin(), first.names.end(), here.names.begin());
  if (a != first.names.end()) {
    ThrowError(name, ": column ", a - first.names.begin() + 1, " is called ", Quoted(*b), ", but ",
               Quoted(*a), " in ", first_name,
               "; give all parts the same columns in the same order");
  }
  if (first.separator != here.separator) {
    ThrowError(name, ": has another separator than ", first_name, "; write all parts alike");
  }
}

void Copy(std::string_view text, const FileBytes& file, ScratchFile* to) {
  constexpr std::size_t kAtATime = 1 << 20;
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, kAtATime);
    to->Write(piece);
    file.Release(piece);
    text.remove_prefix(piece.size());
  }
}

FileBytes Join(const std::string& pattern, const std::vector<std::string>& paths,
               const ReadOptions& reading, const std::string& folder) {
  ScratchFile joined(folder, "the parts of " + pattern);
  std::vector<FileBytes::Part> parts;
  std::vector<FileBytes::Extent> extents;
  std::size_t place = 0;  // in the joined text
  std::optional<Shape> first;
  Index line = 1;  // of the joined text
  for (const std::string& path : paths) {
    const FileBytes file = FileBytes::ThroughDisk(path, folder);
    if (IsNpy(file.bytes()))
      ThrowError(path, ": is an array, of which several make no table; save them as CSV");
    const internal::OpenedCsv csv = internal::OpenCsv(file, reading);
    Shape here{csv.layout.names, csv.layout.named, csv.layout.separator};
    if (first) RequireSame(*first, here, paths.front(), path);
    // The first part comes whole, but for what stands before its line of names.
    std::string_view text = csv.body;
    Index lines_before = csv.header_lines;
    if (!first) {
      text = csv.text.text.substr(
          0, static_cast<std::size_t>(csv.body.data() + csv.body.size() - csv.text.text.data()));
      lines_before = csv.text.lines_before;
      first = std::move(here);
    }
    parts.push_back({path, line, lines_before});
    line += 1 + std::count(text.begin(), text.end(), '\n');
    // Text that was rewritten stands in no file.
    if (!file.extents().empty() && csv.text.own == nullptr) {
      FileBytes::Extent extent = file.extents().front();
      extent.place = place;
      extent.offset = static_cast<std::size_t>(text.data() - file.bytes().data());
      extent.size = text.size();
      // The newline behind it is among our bytes in any case.
      const std::string_view behind = file.bytes().substr(extent.offset + text.size(), 1);
      if (behind == "\n") ++extent.size;
      extents.push_back(std::move(extent));
    }
    place += text.size() + 1;
    Copy(text, file, &joined);
    joined.Write("\n");
  }
  return FileBytes::OfParts(pattern, joined, std::move(parts), std::move(extents));
}

}  // namespace

std::vector<std::string> PartsOf(const std::string& path) {
  std::error_code ignored;
  if (path.find_first_of("*?[") == std::string::npos || std::filesystem::exists(path, ignored))
    return {path};
  glob_t found{};
  std::vector<std::string> parts;
  if (::glob(path.c_str(), 0, nullptr, &found) == 0)
    parts.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (parts.empty()) return {path};
  std::sort(parts.begin(), parts.end());
  return parts;
}

FileBytes OpenTable(const std::string& path, const ReadOptions& reading,
                    const OpenOptions& options) {
  const std::string folder = options.folder.empty() ? ScratchFolder() : options.folder;
  const std::vector<std::string> parts = PartsOf(path);
  if (parts.size() > 1) return Join(path, parts, reading, folder);
  if (options.through_disk) return FileBytes::ThroughDisk(parts.front(), folder);
  FileBytes file(parts.front());
  file.Unpack();
  return file;
}

}  // namespace fathom
