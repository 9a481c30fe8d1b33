#include "fathom/recipe/json_value.h"

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/text.h"

namespace fathom {

namespace {

using Json = nlohmann::json;

[[noreturn]] void Refuse(const Json& json, const std::string& name, const std::string& what) {
  ThrowError(name, " must be ", what, ", not ",
             Quoted(json.dump(-1, ' ', true, Json::error_handler_t::replace)));
}

constexpr auto kPrecisions = std::to_array<std::pair<Precision, std::string_view>>(
    {{Precision::kDouble, "double"}, {Precision::kMixed, "mixed"}});
constexpr auto kWhitenings = std::to_array<std::pair<Whitening, std::string_view>>(
    {{Whitening::kAuto, "auto"}, {Whitening::kNever, "never"}, {Whitening::kAlways, "always"}});
constexpr auto kStarts = std::to_array<std::pair<Start, std::string_view>>(
    {{Start::kPrincipal, "principal"}, {Start::kPaper, "paper"}});
constexpr auto kPropagations =
    std::to_array<std::pair<Propagation, std::string_view>>({{Propagation::kMoments, "moments"},
                                                             {Propagation::kSamples, "samples"},
                                                             {Propagation::kPoints, "points"}});
constexpr auto kStackings = std::to_array<std::pair<Stacking, std::string_view>>(
    {{Stacking::kAuto, "auto"}, {Stacking::kNever, "never"}, {Stacking::kAlways, "always"}});

constexpr auto kInferences = std::to_array<std::pair<Inference, std::string_view>>(
    {{Inference::kAep, "aep"}, {Inference::kSep, "sep"}, {Inference::kEp, "ep"}});
constexpr auto kStopReasons = std::to_array<std::pair<StopReason, std::string_view>>(
    {{StopReason::kFinished, "finished"},
     {StopReason::kConverged, "converged"},
     {StopReason::kTimeBudget, "time budget"},
     {StopReason::kInterrupted, "interrupted"},
     {StopReason::kNumericalFailure, "numerical failure"}});

template <typename Table, typename Value>
Json NameOf(const Table& table, Value value) {
  for (const auto& [entry, text] : table) {
    if (entry == value) return text;
  }
  throw InternalError("a value without a name");
}

template <typename Table, typename Value>
void ValueOf(const Table& table, const Json& json, const std::string& name, Value* value) {
  std::string known;
  for (const auto& [entry, text] : table) {
    if (json.is_string() && json.get_ref<const std::string&>() == text) {
      *value = entry;
      return;
    }
    known += (known.empty() ? "'" : " or '") + std::string(text) + "'";
  }
  Refuse(json, name, known);
}

template <typename Integer>
void WholeNumber(const Json& json, const std::string& name, Integer* value) {
  // As unsigned first: a JSON number above 2^63 is not representable as signed.
  if (json.is_number_unsigned() && std::in_range<Integer>(json.get<std::uint64_t>())) {
    *value = static_cast<Integer>(json.get<std::uint64_t>());
  } else if (json.is_number_integer() && !json.is_number_unsigned() &&
             std::in_range<Integer>(json.get<std::int64_t>())) {
    *value = static_cast<Integer>(json.get<std::int64_t>());
  } else {
    Refuse(json, name, "a whole number");
  }
}

template <typename Item>
void List(const Json& json, const std::string& name, std::vector<Item>* value) {
  if (!json.is_array()) Refuse(json, name, "a list");
  value->clear();
  for (std::size_t i = 0; i < json.size(); ++i) {
    FromJson(json[i], name + "[" + std::to_string(i) + "]", &value->emplace_back());
  }
}

}  // namespace

Json ToJson(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}
Json ToJson(bool value) { return value; }
Json ToJson(int value) { return value; }
Json ToJson(Index value) { return value; }
Json ToJson(std::uint64_t value) { return value; }
Json ToJson(const std::string& value) { return value; }
Json ToJson(const std::vector<Index>& value) { return value; }
Json ToJson(const std::vector<std::string>& value) { return value; }
Json ToJson(const std::map<std::string, std::vector<std::string>>& value) { return value; }
Json ToJson(Precision value) { return NameOf(kPrecisions, value); }
Json ToJson(Whitening value) { return NameOf(kWhitenings, value); }
Json ToJson(Start value) { return NameOf(kStarts, value); }
Json ToJson(Propagation value) { return NameOf(kPropagations, value); }
Json ToJson(StopReason value) { return NameOf(kStopReasons, value); }
Json ToJson(Stacking value) { return NameOf(kStackings, value); }

Json ToJson(Inference value) { return NameOf(kInferences, value); }

void FromJson(const Json& json, const std::string& name, double* value) {
  if (json.is_number()) {
    *value = json.get<double>();
  } else if (json == "NaN") {
    *value = std::numeric_limits<double>::quiet_NaN();
  } else if (json == "Infinity" || json == "-Infinity") {
    *value = (json == "Infinity" ? 1 : -1) * std::numeric_limits<double>::infinity();
  } else {
    Refuse(json, name, "a number");
  }
}
void FromJson(const Json& json, const std::string& name, bool* value) {
  if (!json.is_boolean()) Refuse(json, name, "true or false");
  *value = json.get<bool>();
}
void FromJson(const Json& json, const std::string& name, int* value) {
  WholeNumber(json, name, value);
}
void FromJson(const Json& json, const std::string& name, Index* value) {
  WholeNumber(json, name, value);
}
void FromJson(const Json& json, const std::string& name, std::uint64_t* value) {
  WholeNumber(json, name, value);
}
void FromJson(const Json& json, const std::string& name, std::string* value) {
  if (!json.is_string()) Refuse(json, name, "a text");
  *value = json.get<std::string>();
}
void FromJson(const Json& json, const std::string& name, std::vector<Index>* value) {
  List(json, name, value);
}
void FromJson(const Json& json, const std::string& name, std::vector<std::string>* value) {
  List(json, name, value);
}
void FromJson(const Json& json, const std::string& name,
              std::map<std::string, std::vector<std::string>>* value) {
  if (!json.is_object()) Refuse(json, name, "an object of lists");
  value->clear();
  for (const auto& [key, list] : json.items()) FromJson(list, name + "." + key, &(*value)[key]);
}
void FromJson(const Json& json, const std::string& name, Precision* value) {
  ValueOf(kPrecisions, json, name, value);
}
void FromJson(const Json& json, const std::string& name, Whitening* value) {
  ValueOf(kWhitenings, json, name, value);
}

void FromJson(const Json& json, const std::string& name, Start* value) {
  ValueOf(kStarts, json, name, value);
}
void FromJson(const Json& json, const std::string& name, Propagation* value) {
  ValueOf(kPropagations, json, name, value);
}
void FromJson(const Json& json, const std::string& name, StopReason* value) {
  ValueOf(kStopReasons, json, name, value);
}

void FromJson(const Json& json, const std::string& name, Stacking* value) {
  // Files of earlier versions have a flag.
  if (json.is_boolean()) {
    *value = json.get<bool>() ? Stacking::kAlways : Stacking::kNever;
  } else {
    ValueOf(kStackings, json, name, value);
  }
}

void FromJson(const Json& json, const std::string& name, Inference* value) {
  ValueOf(kInferences, json, name, value);
}

}  // namespace fathom
