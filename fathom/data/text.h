// Text as it goes into messages and model files.
#ifndef FATHOM_DATA_TEXT_H_
#define FATHOM_DATA_TEXT_H_

#include <span>
#include <string>
#include <string_view>

namespace fathom {

// 'text' in single quotes and on one line whatever it holds: control characters become '?', a long
// text is cut after 60 bytes.
std::string Quoted(std::string_view text);

// Quoted names with commas between them; of many names only the first `limit` and how many more
// there are.
std::string QuotedList(std::span<const std::string> names, std::size_t limit = 20);

// Whether the bytes are well-formed UTF-8 (no overlong forms, no surrogates), as JSON demands.
bool IsUtf8(std::string_view text);

}  // namespace fathom

#endif  // FATHOM_DATA_TEXT_H_
