#include "bench/arguments.h"

#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "fathom/base/error.h"
#include "fathom/base/text.h"

namespace fathom::bench {

namespace {

std::vector<Index> ParseList(std::string_view text) {
  std::vector<Index> list;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    Index value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value < 0 || (next < end && *next != ','))
      ThrowError("'", text, "' is not a list of whole numbers such as 2,2");
    list.push_back(value);
    at = next + 1;
  }
  return list;
}

}  // namespace

Arguments::Arguments(int argc, char** argv, const std::vector<std::string>& names) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const std::size_t equals = argument.find('=');
    const std::string name(argument.substr(0, equals));
    if (std::find(names.begin(), names.end(), name) == names.end())
      ThrowError("unknown name ", Quoted(name), "; use ", QuotedList(names));
    if (equals != std::string_view::npos) values_[name] = ParseList(argument.substr(equals + 1));
    if (values_[name].empty()) ThrowError(Quoted(std::string(argument)), " should be name=number");
  }
}

std::vector<Index> Arguments::List(const std::string& name,
                                   const std::vector<Index>& otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? otherwise : found->second;
}

Index Arguments::Number(const std::string& name, Index otherwise) const {
  return List(name, {otherwise}).front();
}

double PeakBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

}  // namespace fathom::bench
