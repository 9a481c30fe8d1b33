// The part of TOML that configuration files need: comments, [sections] of one level, and keys whose
// values are strings, numbers, true, false, or lists of these.
#ifndef FATHOM_IO_TOML_H_
#define FATHOM_IO_TOML_H_

#include <string>
#include <string_view>
#include <vector>

namespace fathom {

struct TomlEntry {
  std::string section;  // empty before the first one
  std::string key;
  std::vector<std::string> values;  // one, or those of a list
  int line = 0;                     // from 1
};

struct TomlSection {
  std::string name;
  int line = 0;
};

// Throws Error with `source`, the line and what is wrong there, also for a key that stands twice.
// Lists the sections, those without entries too, if the caller asks for them.
std::vector<TomlEntry> ParseToml(const std::string& source, std::string_view text,
                                 std::vector<TomlSection>* sections = nullptr);

// Writes 'key = value'. A value that is a number or a truth value stands bare, others in quotes.
std::string TomlLine(const std::string& key, const std::vector<std::string>& values);

}  // namespace fathom

#endif  // FATHOM_IO_TOML_H_
