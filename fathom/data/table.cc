#include "fathom/data/table.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>
#include <string_view>

#include "fathom/base/error.h"
#include "fathom/data/text.h"

namespace fathom {
namespace {

// Letters to change, insert or drop to turn a into b; upper and lower case count as equal.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (lower(a[i - 1]) != lower(b[j - 1]) ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string UnnamedColumn(std::size_t number) {
  return std::string("x").append(std::to_string(number));
}

void ThrowNoColumn(const std::string& source, const std::vector<std::string>& columns,
                   const char* what, const std::string& name) {
  std::size_t nearest = name.size() / 2 + 1;  // farther than this is no spelling mistake
  const std::string* guess = nullptr;
  for (const std::string& column : columns) {
    // Distances cost the product of the lengths; no spelling mistake is this long.
    if (name.size() > 200 || column.size() > 200) continue;
    const std::size_t distance = EditDistance(name, column);
    if (distance < nearest) {
      nearest = distance;
      guess = &column;
    }
  }
  ThrowError(source, ": there is no ", what, " ", Quoted(name),
             guess ? "; did you mean " + Quoted(*guess) + "?" : ";", " the columns are ",
             QuotedList(columns));
}

Index FindColumn(const std::string& source, const std::vector<std::string>& columns,
                 const std::string& name) {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found != columns.end()) {
    const auto again = std::find(found + 1, columns.end(), name);
    if (again != columns.end()) {
      ThrowError(source, ": columns ", found - columns.begin() + 1, " and ",
                 again - columns.begin() + 1, " are both called ", Quoted(name),
                 "; give every column a name of its own");
    }
    return found - columns.begin();
  }
  Index number = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, problem] = std::from_chars(name.data(), end, number);
  if (problem == std::errc() && stop == end && number >= 1 &&
      number <= static_cast<Index>(columns.size())) {
    return number - 1;
  }
  ThrowNoColumn(source, columns, "column", name);
}

}  // namespace fathom
