#include "fathom/io/text_encoding.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fathom/base/text.h"

namespace fathom {
namespace {

constexpr std::uint32_t kReplacement = 0xFFFD;

void AppendUtf8(std::uint32_t code, std::string* text) {
  const auto byte = [&](std::uint32_t value) { *text += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | code >> 6);
    byte(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    byte(0xE0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3F));
    byte(0x80 | (code & 0x3F));
  } else {
    byte(0xF0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3F));
    byte(0x80 | (code >> 6 & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

// What the bytes 0x80 to 0x9F mean in Windows-1252; the five that mean nothing stay as they are.
constexpr std::uint16_t kWindows1252[32] = {
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178};

}  // namespace

Utf16 FindUtf16(std::string_view bytes) {
  if (bytes.starts_with("\xff\xfe")) return Utf16::kLittleEndian;
  if (bytes.starts_with("\xfe\xff")) return Utf16::kBigEndian;
  const std::string_view start = bytes.substr(0, std::min<std::size_t>(bytes.size(), 64) / 2 * 2);
  if (start.size() < 4) return Utf16::kNone;
  std::size_t zeros[2] = {0, 0};
  for (std::size_t i = 0; i < start.size(); ++i) zeros[i % 2] += start[i] == '\0' ? 1 : 0;
  const std::size_t most = start.size() / 2 * 3 / 4;  // a few names may be in another script
  if (zeros[0] == 0 && zeros[1] >= most) return Utf16::kLittleEndian;
  if (zeros[1] == 0 && zeros[0] >= most) return Utf16::kBigEndian;
  return Utf16::kNone;
}

std::string Utf16ToUtf8(std::string_view bytes, Utf16 order) {
  const std::size_t low = order == Utf16::kLittleEndian ? 0 : 1;
  const auto unit = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i + low]) |
                                      static_cast<unsigned char>(bytes[i + 1 - low]) << 8);
  };
  std::string text;
  text.reserve(bytes.size() / 2);
  std::size_t i = 0;
  if (bytes.size() >= 2 && unit(0) == 0xFEFF) i = 2;
  for (; i + 1 < bytes.size(); i += 2) {
    std::uint32_t code = unit(i);
    if (code >= 0xD800 && code < 0xE000) {
      const std::uint32_t next = code < 0xDC00 && i + 3 < bytes.size() ? unit(i + 2) : 0;
      const bool pair = next >= 0xDC00 && next < 0xE000;
      code = pair ? 0x10000 + ((code - 0xD800) << 10) + (next - 0xDC00) : kReplacement;
      if (pair) i += 2;
    }
    AppendUtf8(code, &text);
  }
  if (i < bytes.size()) AppendUtf8(kReplacement, &text);
  return text;
}

std::string ToUtf8(std::string_view text) {
  if (IsUtf8(text)) return std::string(text);
  std::string decoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    AppendUtf8(byte >= 0x80 && byte < 0xA0 ? kWindows1252[byte - 0x80] : byte, &decoded);
  }
  return decoded;
}

}  // namespace fathom
