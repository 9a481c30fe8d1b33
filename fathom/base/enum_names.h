// Names of the values of an enum, as they stand in files and on the command line. Each enum lists
// them once, beside its own definition:
//
//   enum class Colour { kRed, kBlue };
//   constexpr auto NamesOf(Colour) {
//     return std::to_array<EnumName<Colour>>({{Colour::kRed, "red"}, {Colour::kBlue, "blue"}});
//   }
#ifndef FATHOM_BASE_ENUM_NAMES_H_
#define FATHOM_BASE_ENUM_NAMES_H_

#include <array>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "fathom/base/error.h"
#include "fathom/base/export.h"

namespace fathom FATHOM_PUBLIC {

template <typename Enum>
struct EnumName {
  Enum value;
  std::string_view name;
};

template <typename Enum>
concept NamedEnum = std::is_enum_v<Enum> && requires {
  NamesOf(Enum());
};

template <NamedEnum Enum>
std::string NameOf(Enum value) {
  for (const EnumName<Enum>& entry : NamesOf(value)) {
    if (entry.value == value) return std::string(entry.name);
  }
  throw InternalError("a value without a name");
}

// False, and *value stays, if there is no such name.
template <NamedEnum Enum>
bool FromName(std::string_view name, Enum* value) {
  for (const EnumName<Enum>& entry : NamesOf(Enum())) {
    if (entry.name != name) continue;
    *value = entry.value;
    return true;
  }
  return false;
}

template <NamedEnum Enum>
std::vector<std::string> AllNames() {
  std::vector<std::string> names;
  for (const EnumName<Enum>& entry : NamesOf(Enum())) names.emplace_back(entry.name);
  return names;
}

}  // namespace fathom

#endif  // FATHOM_BASE_ENUM_NAMES_H_
