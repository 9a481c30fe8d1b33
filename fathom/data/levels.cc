#include "fathom/data/levels.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <utility>

#include "fathom/data/table.h"

namespace fathom::internal {

namespace {

// Sorts numbers by value before all other strings, which share one key.
double NumericKey(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  const bool number = problem == std::errc() && stop == end && value == value;
  return number ? value : std::numeric_limits<double>::infinity();
}

}  // namespace

Index LevelCodes::Code(std::string_view text) {
  if (const auto found = codes_.find(text); found != codes_.end()) return found->second;
  if (texts_.size() > Table::kMostLevels) return -1;
  const auto code = static_cast<Index>(texts_.size());
  codes_.emplace(text, code);
  texts_.emplace_back(text);
  return code;
}

void Renumber(const std::vector<LevelCodes>& own, std::vector<LevelCodes>* all, Matrix* rows) {
  for (std::size_t c = 0; c < own.size(); ++c) {
    if (own[c].texts().empty()) continue;
    std::vector<double> codes;
    for (const std::string& text : own[c].texts()) {
      const Index code = (*all)[c].Code(text);
      codes.push_back(code < 0 ? std::numeric_limits<double>::quiet_NaN()
                               : static_cast<double>(code));
    }
    for (double& value : rows->col(static_cast<Index>(c))) {
      if (value == value) value = codes[static_cast<std::size_t>(value)];
    }
  }
}

std::vector<std::string> MergeLevels(const std::vector<const LevelCodes*>& pieces,
                                     std::vector<std::vector<Index>>* places) {
  LevelCodes all;
  places->assign(pieces.size(), {});
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    for (const std::string& text : pieces[k]->texts()) (*places)[k].push_back(all.Code(text));
  }
  std::vector<std::pair<double, Index>> order;
  for (const std::string& text : all.texts())
    order.emplace_back(NumericKey(text), static_cast<Index>(order.size()));
  std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : all.texts()[a.second] < all.texts()[b.second];
  });
  std::vector<std::string> merged;
  std::vector<Index> rank(order.size());
  for (const auto& [key, code] : order) {
    rank[code] = static_cast<Index>(merged.size());
    merged.push_back(all.texts()[code]);
  }
  for (std::vector<Index>& piece : *places) {
    for (Index& place : piece) place = place < 0 ? -1 : rank[place];
  }
  return merged;
}

}  // namespace fathom::internal
