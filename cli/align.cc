#include "cli/align.h"

#include <algorithm>

namespace fathom::cli {

namespace {

// Counts characters, not bytes: the further bytes of a UTF-8 character do not count.
std::size_t WidthOf(const std::string& cell) {
  return static_cast<std::size_t>(std::count_if(cell.begin(), cell.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

std::string Align(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width;
  for (const auto& row : rows) {
    width.resize(std::max(width.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], WidthOf(row[c]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string pad(width[c] - WidthOf(row[c]), ' ');
      const bool left = c == 0 || c + 1 == row.size();
      line += (c == 0 ? "" : "  ") + (left ? row[c] + pad : pad + row[c]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace fathom::cli
