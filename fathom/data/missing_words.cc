#include "fathom/data/missing_words.h"

#include <algorithm>
#include <cctype>

#include "fathom/data/csv_row.h"

namespace fathom::internal {
namespace {

bool EqualsLower(std::string_view cell, std::string_view lower) {
  return std::equal(cell.begin(), cell.end(), lower.begin(), lower.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == static_cast<unsigned char>(b);
  });
}

template <typename Words>
bool IsOneOf(std::string_view cell, const Words& words) {
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view word) { return EqualsLower(cell, word); });
}

}  // namespace

MissingWords::MissingWords(const std::vector<std::string>& more) {
  for (const std::string& word : more) {
    double number = 0;
    if (ReadPlainNumber(word, &number)) numbers_.push_back(number);
    std::string& lower = words_.emplace_back(word);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
      return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
  }
}

bool MissingWords::InText(std::string_view cell) const {
  constexpr std::string_view kWords[] = {"",     "?",   "na",   "n/a", "#n/a",
                                         "<na>", "nan", "-nan", "null"};
  return IsOneOf(cell, kWords) || IsOneOf(cell, words_);
}

bool MissingWords::InNumbers(std::string_view cell) const {
  constexpr std::string_view kWords[] = {
      "none",    "-",       "--",    "---",    ".",       "..",      "*",
      "n.a.",    "nil",     "\\n",   "(null)", "missing", "unknown", "#null!",
      "#div/0!", "#value!", "#ref!", "#name?", "#num!",   "\u2013",  "\u2014"};
  return InText(cell) || IsOneOf(cell, kWords);
}

}  // namespace fathom::internal
