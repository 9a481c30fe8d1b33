// JSON as text and as bytes. Parsers and writers are among the largest templates there are: they
// are compiled here, once.
#ifndef FATHOM_IO_JSON_TEXT_H_
#define FATHOM_IO_JSON_TEXT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace fathom {

// What becomes of a string that is not UTF-8: nlohmann's exception, or a text with U+FFFD in it.
enum class NotUtf8 { kThrow, kReplace };

// One line, or lines that are indented by so many blanks.
std::string JsonText(const nlohmann::json& json, int indent = -1,
                     NotUtf8 not_utf8 = NotUtf8::kThrow);
std::string JsonText(const nlohmann::ordered_json& json, int indent = -1,
                     NotUtf8 not_utf8 = NotUtf8::kThrow);
// For messages: one line of ASCII, whatever the strings are.
std::string JsonInAscii(const nlohmann::json& json);

// What is nested is also copied and freed level by level, on a stack that ends. So what others
// have written may only be so deep.
inline constexpr int kDeepestJson = 20;
// Throws Error, which says what `what` is: not JSON, or nested too deeply.
nlohmann::json ParseJson(const std::string& what, std::string_view text,
                         int deepest = kDeepestJson);
// Discarded (json.is_discarded()) where ParseJson throws. Fields of ordered JSON keep their order.
nlohmann::json TryParseJson(std::string_view text, int deepest = kDeepestJson);
nlohmann::ordered_json TryParseOrderedJson(std::string_view text, int deepest = kDeepestJson);

// As CBOR, whose strings may hold any bytes. Reading throws nlohmann's exception.
std::string JsonBytes(const nlohmann::json& json);
nlohmann::json JsonFromBytes(std::string_view bytes);

}  // namespace fathom

#endif  // FATHOM_IO_JSON_TEXT_H_
