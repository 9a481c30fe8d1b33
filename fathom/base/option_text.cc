#include "fathom/base/option_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/text.h"

namespace fathom {

std::string Short(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), "%.6g", value);
  return buffer;
}

std::vector<std::string> SplitLists(const std::vector<std::string>& lists) {
  std::vector<std::string> items;
  for (const std::string& list : lists) {
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      items.push_back(list.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return items;
}

double ParseDuration(const std::string& name, const std::string& text) {
  std::string_view number = text;
  double unit = 1;
  if (number.ends_with('h')) unit = 3600;
  if (number.ends_with('m')) unit = 60;
  if (number.ends_with('s') || unit != 1) number.remove_suffix(1);
  double value = 0;
  const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), value);
  const bool is_number = problem == std::errc() && end == number.data() + number.size();
  if (!is_number || !(value > 0) || !std::isfinite(value))
    ThrowError(name, ": ", Quoted(text), " is not a time; write 90s, 5m or 1h");
  return value * unit;
}

double ParseBytes(const std::string& name, const std::string& text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}};
  for (const auto& [unit, size] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const char* const end = text.data() + text.size() - unit.size();
    double value = 0;
    const auto [stop, problem] = std::from_chars(text.data(), end, value);
    if (problem == std::errc() && stop == end && value > 0 && std::isfinite(value))
      return value * size;
  }
  ThrowError(name, ": ", Quoted(text), " is no amount of memory; write 500MB or 2GB");
}

}  // namespace fathom
