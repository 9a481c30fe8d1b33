#include "fathom/data/written_number.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "fathom/io/text_encoding.h"

namespace fathom::internal {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

void Replace(std::string_view from, std::string_view to, std::string* text) {
  for (std::size_t i = text->find(from); i != std::string::npos; i = text->find(from, i))
    text->replace(i, from.size(), to);
}

// Signs and blanks that look like the ASCII ones become these.
std::string WithPlainSigns(std::string_view text) {
  const bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return c >= 0; });
  if (ascii) return std::string(text);
  constexpr std::pair<std::string_view, std::string_view> kAlike[] = {
      {"\u2212", "-"}, {"\u2013", "-"}, {"\u00a0", " "}, {"\u202f", " "},
      {"\u2009", " "}, {"\u2007", " "}, {"\u2019", "'"}, {"\ufeff", ""}};
  std::string plain = ToUtf8(text);
  for (const auto& [odd, usual] : kAlike) Replace(odd, usual, &plain);
  return plain;
}

// Reads from the front of a text and takes away what was read.
class NumberScanner {
 public:
  explicit NumberScanner(std::string_view text) : text_(text) {}

  std::string_view rest() const { return text_; }
  void SkipBlanks() {
    while (text_.starts_with(' ')) text_.remove_prefix(1);
  }
  bool Take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::string_view TakeDigits() {
    std::size_t count = 0;
    while (count < text_.size() && IsDigit(text_[count])) ++count;
    return TakeFront(count);
  }
  std::string_view TakeFront(std::size_t count) {
    const std::string_view front = text_.substr(0, count);
    text_.remove_prefix(count);
    return front;
  }
  // Whether `mark` and exactly three digits are next.
  bool GroupIsNext(char mark) const {
    return text_.size() >= 4 && text_[0] == mark && IsDigit(text_[1]) && IsDigit(text_[2]) &&
           IsDigit(text_[3]) && (text_.size() == 4 || !IsDigit(text_[4]));
  }

 private:
  std::string_view text_;
};

// Takes the whole part, with or without marks between thousands.
std::string TakeWhole(char decimal, NumberScanner* scanner) {
  std::string digits(scanner->TakeDigits());
  if (digits.empty() || digits.size() > 3) return digits;
  for (const char mark : {decimal == '.' ? ',' : '.', ' ', '\''}) {
    if (!scanner->GroupIsNext(mark)) continue;
    while (scanner->GroupIsNext(mark)) {
      scanner->Take(mark);
      digits += scanner->TakeDigits();
    }
    break;
  }
  return digits;
}

// Takes digits, fraction and exponent. False if there is no finite number.
bool TakeNumber(char decimal, NumberScanner* scanner, double* value) {
  const std::string whole = TakeWhole(decimal, scanner);
  const std::string_view fraction = scanner->Take(decimal) ? scanner->TakeDigits() : "";
  if (whole.empty() && fraction.empty()) return false;
  std::string digits = "0" + whole + "." + std::string(fraction);
  NumberScanner exponent = *scanner;
  if (exponent.Take('e') || exponent.Take('E')) {
    const char* const sign = exponent.Take('-') ? "-" : (exponent.Take('+'), "");
    const std::string_view power = exponent.TakeDigits();
    if (!power.empty()) {
      digits.append("e").append(sign).append(power);
      *scanner = exponent;
    }
  }
  const char* const end = digits.data() + digits.size();
  const auto [stop, problem] = std::from_chars(digits.data(), end, *value);
  return problem == std::errc() && stop == end && std::isfinite(*value);
}

// Currencies that may stand before a number; anything may stand behind one.
std::string_view TakeCurrency(NumberScanner* scanner) {
  constexpr std::string_view kBefore[] = {
      "US$", "A$",  "C$",  "R$",  "$",   "\u20ac", "\u00a3", "\u00a5", "\u20b9", "\u20a9", "\u20bd",
      "USD", "EUR", "GBP", "CHF", "JPY", "CAD",    "AUD",    "INR",    "SEK",    "NOK",    "DKK"};
  for (const std::string_view currency : kBefore) {
    if (scanner->rest().starts_with(currency)) return scanner->TakeFront(currency.size());
  }
  return {};
}

// "kg", "%", "km/h", "m2", "sq ft": short, and nothing that a number begins with.
bool IsUnit(std::string_view text) {
  constexpr std::size_t kLongest = 16;
  constexpr std::string_view kFirst = "%$'\"";
  if (text.empty() || text.size() > kLongest) return false;
  const auto first = static_cast<unsigned char>(text.front());
  if (std::isalpha(first) == 0 && first < 0x80 && kFirst.find(text.front()) == kFirst.npos)
    return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || std::isalnum(byte) != 0 || std::string_view(" %/^.$*-'\"").find(c) < 10;
  });
}

}  // namespace

bool ReadWrittenNumber(std::string_view text, char decimal, WrittenNumber* number) {
  std::string plain = WithPlainSigns(text);
  while (plain.ends_with(' ')) plain.pop_back();
  NumberScanner scanner(plain);
  scanner.SkipBlanks();
  bool negative = false;
  const bool bracket = scanner.Take('(');
  if (bracket) {
    if (!plain.ends_with(')')) return false;
    plain.pop_back();
    scanner = NumberScanner(std::string_view{plain}.substr(plain.find('(') + 1));
    negative = true;
    scanner.SkipBlanks();
  }
  const auto take_sign = [&] {
    if (bracket || scanner.Take('+') || !scanner.Take('-')) return false;
    negative = true;
    return true;
  };
  const bool signed_already = take_sign();
  const std::string_view currency = TakeCurrency(&scanner);
  if (!currency.empty()) {
    scanner.SkipBlanks();
    if (!signed_already) take_sign();
  }
  if (!TakeNumber(decimal, &scanner, &number->value)) return false;
  if (negative) number->value = -number->value;
  scanner.SkipBlanks();
  std::string_view unit = scanner.rest();
  while (unit.ends_with(' ')) unit.remove_suffix(1);
  if (!unit.empty() && (!currency.empty() || !IsUnit(unit))) return false;
  number->affix = currency.empty() ? unit : currency;
  return true;
}

}  // namespace fathom::internal
