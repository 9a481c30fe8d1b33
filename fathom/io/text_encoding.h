// Text in other encodings than UTF-8, as Excel and instruments write it.
#ifndef FATHOM_IO_TEXT_ENCODING_H_
#define FATHOM_IO_TEXT_ENCODING_H_

#include <string>
#include <string_view>

namespace fathom {

enum class Utf16 { kNone, kLittleEndian, kBigEndian };

// Whether `bytes` are UTF-16: they begin with its mark or, without one, every other of the first
// bytes is zero, as in text that is mostly ASCII.
Utf16 FindUtf16(std::string_view bytes);

// The same text in UTF-8, without a mark. A lone surrogate and an odd last byte become U+FFFD.
std::string Utf16ToUtf8(std::string_view bytes, Utf16 order);

// `text` as it is if it is UTF-8, else read as Windows-1252: whatever the bytes are, the result is
// UTF-8. Both encodings hold ASCII, so that separators and digits can be found before this is
// asked.
std::string ToUtf8(std::string_view text);

}  // namespace fathom

#endif  // FATHOM_IO_TEXT_ENCODING_H_
