#include "fathom/data/read_columns.h"

#include <string_view>
#include <unordered_map>

#include "fathom/base/error.h"

namespace fathom::internal {

std::vector<std::string> UnnamedColumns(const std::string& source, std::size_t count,
                                        const ReadOptions& options) {
  std::string expected;
  for (const std::vector<std::string>& names : options.names) {
    if (names.size() == count) return names;
    expected += (expected.empty() ? "" : " or ") + std::to_string(names.size());
  }
  if (!options.names.empty()) {
    ThrowError(source, ": has ", count, count == 1 ? " column" : " columns",
               " without names where ", expected, " are expected; give the file the columns that",
               " the model knows, or a first line with their names");
  }
  std::vector<std::string> names;
  for (std::size_t c = 1; c <= count; ++c) names.push_back(UnnamedColumn(c));
  return names;
}

std::vector<Index> KeptColumns(const std::string& source, const std::vector<std::string>& names,
                               const ReadOptions& options) {
  std::vector<char> keep(names.size(), options.only.empty() ? 1 : 0);
  if (!options.only.empty()) {
    std::unordered_map<std::string_view, std::size_t> place;
    for (std::size_t c = 0; c < names.size(); ++c) place.emplace(names[c], c);
    for (const ReadOptions::Column& column : options.only) {
      if (const auto found = place.find(column.name); found != place.end()) keep[found->second] = 1;
    }
  }
  for (const std::string& name : options.ignore) keep[FindColumn(source, names, name)] = 0;
  Index kept = 0;
  std::vector<Index> destinations;
  for (const char kept_one : keep) destinations.push_back(kept_one ? kept++ : -1);
  return destinations;
}

void ApplyKinds(const std::string& source, const std::vector<std::string>& names,
                const ReadOptions& options, std::vector<char>* text) {
  for (const std::string& name : options.text) (*text)[FindColumn(source, names, name)] = 1;
  for (const std::string& name : options.numbers) (*text)[FindColumn(source, names, name)] = 0;
  std::unordered_map<std::string_view, bool> known;
  for (const ReadOptions::Column& column : options.only) known.emplace(column.name, column.text);
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (const auto found = known.find(names[c]); found != known.end())
      (*text)[c] = found->second ? 1 : 0;
  }
}

}  // namespace fathom::internal
