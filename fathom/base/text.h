// Text as it goes into messages and model files.
#ifndef FATHOM_BASE_TEXT_H_
#define FATHOM_BASE_TEXT_H_

#include <span>
#include <string>
#include <string_view>

namespace fathom {

// 'text' in single quotes and made Visible; a long text is cut after 60 bytes.
std::string Quoted(std::string_view text);

// `text` on one line, without characters that a terminal would obey: control characters, those that
// turn the direction of writing, and all but ASCII in a text that is not UTF-8 become '?'.
std::string Visible(std::string_view text);

// Quoted names with commas between them; of many names only the first `limit` and how many more
// there are.
std::string QuotedList(std::span<const std::string> names, std::size_t limit = 20);

// The one of `names` that `name` was most likely meant to be, or null if none is near; upper and
// lower case count as equal.
const std::string* Nearest(std::string_view name, std::span<const std::string> names);
// "; did you mean 'colour'?", or ";" if no name is near: goes before what else can be said.
std::string DidYouMean(std::string_view name, std::span<const std::string> names);

// Whether the bytes are well-formed UTF-8 (no overlong forms, no surrogates), as JSON demands.
bool IsUtf8(std::string_view text);

}  // namespace fathom

#endif  // FATHOM_BASE_TEXT_H_
