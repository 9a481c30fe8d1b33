#include "fathom/base/text.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

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

// The bytes of the character at the front if it is a control character beyond ASCII, or one that
// changes the order in which others are shown, so that a text reads as what it is not; else 0.
std::size_t HiddenCharacter(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.size() >= 2 && byte(0) == 0xC2 && byte(1) < 0xA0) return 2;   // U+0080 to U+009F
  if (text.size() >= 2 && byte(0) == 0xD8 && byte(1) == 0x9C) return 2;  // U+061C
  if (text.size() < 3 || byte(0) != 0xE2) return 0;
  const unsigned low = (byte(1) & 0x3FU) << 6 | (byte(2) & 0x3FU);  // U+2000 plus this
  const bool marks = low == 0x0E || low == 0x0F;
  const bool lines_and_embeddings = low >= 0x28 && low <= 0x2E;
  const bool isolates = low >= 0x66 && low <= 0x69;
  return marks || lines_and_embeddings || isolates ? 3 : 0;
}

}  // namespace

std::string Quoted(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::size_t length = text.size();
  if (length > kLongest) {
    length = kLongest;
    // Not in the middle of a UTF-8 character, whose later bytes are 10xxxxxx.
    while (length > 0 && (text[length] & 0xC0) == 0x80) --length;
  }
  std::string out(1, '\'');
  out += Visible(text.substr(0, length));
  out += length < text.size() ? "...'" : "'";
  return out;
}

std::string Visible(std::string_view text) {
  std::string out;
  const bool utf8 = IsUtf8(text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t hidden = utf8 ? HiddenCharacter(text.substr(i)) : 0;
    out += hidden > 0 || byte < 0x20 || byte == 0x7F || (byte >= 0x80 && !utf8) ? '?' : text[i];
    if (hidden > 0) i += hidden - 1;
  }
  return out;
}

std::string QuotedList(std::span<const std::string> names, std::size_t limit) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i == limit) return out + " and " + std::to_string(names.size() - limit) + " more";
    if (i > 0) out += ", ";
    out += Quoted(names[i]);
  }
  return out;
}

const std::string* Nearest(std::string_view name, std::span<const std::string> names) {
  std::size_t nearest = name.size() / 2 + 1;  // farther than this is no spelling mistake
  const std::string* guess = nullptr;
  for (const std::string& other : names) {
    // Distances cost the product of the lengths; no spelling mistake is this long.
    if (name.size() > 200 || other.size() > 200) continue;
    const std::size_t distance = EditDistance(name, other);
    if (distance < nearest) {
      nearest = distance;
      guess = &other;
    }
  }
  return guess;
}

std::string DidYouMean(std::string_view name, std::span<const std::string> names) {
  const std::string* const guess = Nearest(name, names);
  return guess == nullptr ? ";" : "; did you mean " + Quoted(*guess) + "?";
}

bool IsUtf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80           ? 1
                               : (lead >> 5) == 0x06 ? 2
                               : (lead >> 4) == 0x0E ? 3
                               : (lead >> 3) == 0x1E ? 4
                                                     : 0;
    if (length == 0 || i + length > text.size()) return false;
    unsigned code = length == 1 ? lead : lead & (0x7FU >> length);
    for (std::size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xC0) != 0x80) return false;
      code = code << 6 | (next & 0x3F);
    }
    constexpr unsigned kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < kSmallest[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
      return false;
    }
    i += length;
  }
  return true;
}

}  // namespace fathom
