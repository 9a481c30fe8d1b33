#include "fathom/io/json_text.h"

#include <nlohmann/json.hpp>

#include "fathom/base/error.h"

namespace fathom {

namespace {

template <typename Json>
std::string TextOf(const Json& json, int indent, NotUtf8 not_utf8) {
  return json.dump(
      indent, ' ', false,
      not_utf8 == NotUtf8::kThrow ? Json::error_handler_t::strict : Json::error_handler_t::replace);
}

template <typename Json>
Json ShallowJson(const std::string& what, std::string_view text, int deepest) {
  const auto check = [&](int depth, typename Json::parse_event_t /*event*/, Json& /*value*/) {
    if (depth > deepest) ThrowError(what, " is nested too deeply");
    return true;
  };
  try {
    return Json::parse(text, check);
  } catch (const typename Json::exception&) {
    ThrowError(what, " is not JSON");
  }
}

template <typename Json>
Json TryShallowJson(std::string_view text, int deepest) {
  try {
    return ShallowJson<Json>("it", text, deepest);
  } catch (const Error&) {
    return Json::value_t::discarded;
  }
}

}  // namespace

std::string JsonText(const nlohmann::json& json, int indent, NotUtf8 not_utf8) {
  return TextOf(json, indent, not_utf8);
}

std::string JsonText(const nlohmann::ordered_json& json, int indent, NotUtf8 not_utf8) {
  return TextOf(json, indent, not_utf8);
}

std::string JsonInAscii(const nlohmann::json& json) {
  return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

nlohmann::json ParseJson(const std::string& what, std::string_view text, int deepest) {
  return ShallowJson<nlohmann::json>(what, text, deepest);
}

nlohmann::json TryParseJson(std::string_view text, int deepest) {
  return TryShallowJson<nlohmann::json>(text, deepest);
}

nlohmann::ordered_json TryParseOrderedJson(std::string_view text, int deepest) {
  return TryShallowJson<nlohmann::ordered_json>(text, deepest);
}

std::string JsonBytes(const nlohmann::json& json) {
  std::string bytes;
  nlohmann::json::to_cbor(json, bytes);
  return bytes;
}

nlohmann::json JsonFromBytes(std::string_view bytes) { return nlohmann::json::from_cbor(bytes); }

}  // namespace fathom
