#include "plot/ticks.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "fathom/base/error.h"

namespace fathom {
namespace {

std::string Fixed(double value, int decimals) {
  std::array<char, 400> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::fixed, decimals);
  FATHOM_CHECK(end.ec == std::errc());
  std::string text(buffer.data(), end.ptr);
  const bool zero = text.find_first_not_of("-0.") == std::string::npos;
  if (zero && text.front() == '-') text.erase(0, 1);
  return text;
}

std::string WithMinusSign(std::string text) {
  if (text.front() == '-') text.replace(0, 1, "\u2212");
  return text;
}

std::string Superscript(int number) {
  constexpr std::array<std::string_view, 10> kDigits{"⁰", "¹", "²", "³", "⁴",
                                                     "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = number < 0 ? "⁻" : "";
  for (const char digit : std::to_string(std::abs(number))) {
    text += kDigits[static_cast<std::size_t>(digit - '0')];
  }
  return text;
}

// at = number * 10^shift, with the power written out unless it is 1.
std::string Label(double at, int shift, int decimals) {
  if (at == 0) return "0";
  std::string label = WithMinusSign(Fixed(at / std::pow(10.0, shift), decimals));
  if (shift != 0) label.append("×10").append(Superscript(shift));
  return label;
}

// Spacing mantissa * 10^exponent.
struct Spacing {
  int mantissa;
  int exponent;

  double Value() const { return mantissa * std::pow(10.0, exponent); }
  Spacing Next() const {
    if (mantissa == 1) return {2, exponent};
    if (mantissa == 2) return {5, exponent};
    return {1, exponent + 1};
  }
};

// A mark that should lie on an end of the range may miss it by rounding.
constexpr double kSlack = 1e-9;

double FirstMultiple(const AxisRange& range, double step) {
  return std::ceil(range.low / step - kSlack);
}
double LastMultiple(const AxisRange& range, double step) {
  return std::floor(range.high / step + kSlack);
}

}  // namespace

std::string ShortNumber(double value, int decimals) {
  std::string text = Fixed(value, decimals);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

std::vector<Tick> NiceTicks(const AxisRange& range, int most) {
  FATHOM_CHECK(most >= 2);
  FATHOM_CHECK(std::isfinite(range.Span()) && range.Span() > 0);
  // Starts too fine by at most a factor of ten.
  Spacing spacing{1, static_cast<int>(std::floor(std::log10(range.Span() / most)))};
  while (LastMultiple(range, spacing.Value()) - FirstMultiple(range, spacing.Value()) + 1 > most) {
    spacing = spacing.Next();
  }
  const double step = spacing.Value();
  const double first = FirstMultiple(range, step);
  const double last = LastMultiple(range, step);

  const double largest = std::max(std::abs(first), std::abs(last)) * step;
  const int magnitude =
      largest > 0 ? static_cast<int>(std::floor(std::log10(largest * (1 + kSlack)))) : 0;
  const int shift = magnitude >= 5 || magnitude <= -4 ? magnitude : 0;
  const int decimals = std::max(0, shift - spacing.exponent);

  std::vector<Tick> ticks;
  for (double k = first; k <= last; ++k) {
    const double at = k * step;
    ticks.push_back({at, Label(at, shift, decimals)});
  }
  return ticks;
}

}  // namespace fathom
