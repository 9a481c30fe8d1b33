// Writes SVG element by element. Tags are closed by the writer and all strings are escaped,
// so whatever the caller's strings hold, the result is well-formed XML.
#ifndef FATHOM_PLOT_SVG_H_
#define FATHOM_PLOT_SVG_H_

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "plot/ticks.h"

namespace fathom {

// `text` for use in XML content and attributes. Bytes that XML cannot hold (control characters,
// broken UTF-8) become U+FFFD.
std::string EscapeXml(std::string_view text);

template <typename T>
concept SvgNumber = std::integral<T> || std::floating_point<T>;

inline void AppendSvg(std::string_view text, std::string* out) { *out += text; }
// Numbers are lengths in pixels; a hundredth is finer than any screen shows.
template <SvgNumber Number>
void AppendSvg(Number number, std::string* out) {
  *out += ShortNumber(static_cast<double>(number), 2);
}

// Strings and numbers in a row, as in SvgText("M", x, " ", y).
template <typename... Parts>
std::string SvgText(const Parts&... parts) {
  std::string out;
  (AppendSvg(parts, &out), ...);
  return out;
}

struct SvgAttribute {
  template <typename Value>
  SvgAttribute(std::string_view name_in, const Value& value_in)
      : name(name_in), value(SvgText(value_in)) {}

  std::string_view name;
  std::string value;
};

class SvgWriter {
 public:
  using Attributes = std::initializer_list<SvgAttribute>;

  SvgWriter(double width, double height);

  void Open(const char* tag, Attributes attributes);
  void Close();
  void Leaf(const char* tag, Attributes attributes);
  void Text(std::string_view text, Attributes attributes);
  // The name that assistive software and browsers show.
  void Title(std::string_view text);

  // Closes what is open and hands over the document.
  std::string Finish() &&;

 private:
  void Start(const char* tag, Attributes attributes);

  std::string out_;
  std::vector<const char*> open_;
};

}  // namespace fathom

#endif  // FATHOM_PLOT_SVG_H_
