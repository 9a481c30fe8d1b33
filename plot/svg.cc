#include "plot/svg.h"

#include <algorithm>
#include <utility>

#include "fathom/base/error.h"

namespace fathom {
namespace {

constexpr std::string_view kReplacement = "\uFFFD";

// The number of bytes of the character that starts `text`, or 0 if it is none that XML allows.
std::size_t CharacterLength(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' || first == '\r' ? 1 : 0;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  unsigned code = first & (0x7FU >> length);
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(k) & 0xC0U) != 0x80) return 0;
    code = (code << 6) | (byte(k) & 0x3FU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  const bool forbidden = code == 0xFFFE || code == 0xFFFF || code > 0x10FFFF;
  return overlong || surrogate || forbidden ? 0 : length;
}

}  // namespace

std::string EscapeXml(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const std::size_t length = CharacterLength(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0) {
      escaped += kReplacement;
    } else if (character == "&") {
      escaped += "&amp;";
    } else if (character == "<") {
      escaped += "&lt;";
    } else if (character == ">") {
      escaped += "&gt;";
    } else if (character == "\"") {
      escaped += "&quot;";
    } else {
      escaped += character;
    }
    text.remove_prefix(character.size());
  }
  return escaped;
}

SvgWriter::SvgWriter(double width, double height) {
  out_ = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  Open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
               {"width", width},
               {"height", height},
               {"viewBox", SvgText("0 0 ", width, " ", height)},
               {"role", "img"},
               {"font-family", "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"}});
}

void SvgWriter::Start(const char* tag, Attributes attributes) {
  out_ += SvgText("<", tag);
  for (const SvgAttribute& attribute : attributes) {
    out_ += SvgText(" ", attribute.name, "=\"", EscapeXml(attribute.value), "\"");
  }
}

void SvgWriter::Open(const char* tag, Attributes attributes) {
  Start(tag, attributes);
  out_ += ">\n";
  open_.push_back(tag);
}

void SvgWriter::Close() {
  FATHOM_CHECK(!open_.empty());
  out_ += SvgText("</", open_.back(), ">\n");
  open_.pop_back();
}

void SvgWriter::Leaf(const char* tag, Attributes attributes) {
  Start(tag, attributes);
  out_ += "/>\n";
}

void SvgWriter::Text(std::string_view text, Attributes attributes) {
  Start("text", attributes);
  out_ += SvgText(">", EscapeXml(text), "</text>\n");
}

void SvgWriter::Title(std::string_view text) {
  out_ += SvgText("<title>", EscapeXml(text), "</title>\n");
}

std::string SvgWriter::Finish() && {
  while (!open_.empty()) Close();
  return std::move(out_);
}

}  // namespace fathom
