#include "fathom/data/table.h"

#include <algorithm>
#include <charconv>

#include "fathom/base/error.h"
#include "fathom/base/text.h"

namespace fathom {
std::string UnnamedColumn(std::size_t number) {
  return std::string("x").append(std::to_string(number));
}

void ThrowNoColumn(const std::string& source, const std::vector<std::string>& columns,
                   const char* what, const std::string& name) {
  ThrowError(source, ": there is no ", what, " ", Quoted(name), DidYouMean(name, columns),
             " the columns are ", QuotedList(columns));
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
