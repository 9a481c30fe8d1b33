#include "fathom/io/toml.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/text.h"

namespace fathom {

namespace {

bool IsBareCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

bool IsBare(std::string_view value) {
  if (value == "true" || value == "false") return true;
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && end == value.data() + value.size();
}

class Parser {
 public:
  Parser(const std::string& source, std::string_view text) : source_(source), text_(text) {}

  std::vector<TomlEntry> Parse(std::vector<TomlSection>* sections) {
    while (SkipBlank(true)) {
      if (text_[at_] == '[') {
        ReadSection();
        if (sections != nullptr) sections->push_back({section_, line_});
      } else {
        ReadEntry();
      }
      if (SkipBlank(false) && text_[at_] != '\n') Fail("expected the end of the line");
    }
    return std::move(entries_);
  }

 private:
  [[noreturn]] void Fail(const std::string& what) const {
    ThrowError(source_, ": line ", line_, ": ", what);
  }

  // Moves past blanks and comments (and ends of lines); whether anything is left.
  bool SkipBlank(bool lines) {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
      } else if (c == '\n') {
        if (!lines) return true;
        ++line_;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return true;
      }
    }
    return false;
  }
  void Expect(char c, const char* what) {
    if (at_ >= text_.size() || text_[at_] != c) Fail(std::string("expected ") + what);
    ++at_;
  }

  void ReadSection() {
    ++at_;
    SkipBlank(false);
    section_ = ReadKey();
    SkipBlank(false);
    Expect(']', "']' after the name of the section");
  }

  std::string ReadKey() {
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) return ReadQuoted();
    const std::size_t begin = at_;
    while (at_ < text_.size() && IsBareCharacter(text_[at_])) ++at_;
    if (at_ == begin) Fail("expected a key, as in 'key = value'");
    return std::string(text_.substr(begin, at_ - begin));
  }

  void ReadEntry() {
    TomlEntry entry{section_, ReadKey(), {}, line_};
    SkipBlank(false);
    Expect('=', ("'=' and a value after " + Quoted(entry.key)).c_str());
    if (!SkipBlank(false) || text_[at_] == '\n') Fail("expected a value for " + Quoted(entry.key));
    if (text_[at_] == '[') {
      ReadList(&entry.values);
    } else {
      entry.values.push_back(ReadValue());
    }
    const auto [first, is_new] = line_of_.emplace(std::pair(entry.section, entry.key), entry.line);
    if (!is_new)
      Fail(Quoted(entry.key) + " stands in line " + std::to_string(first->second) + " already");
    entries_.push_back(std::move(entry));
  }

  void ReadList(std::vector<std::string>* values) {
    ++at_;
    while (true) {
      if (!SkipBlank(true)) Fail("the list has no ']'");
      if (text_[at_] == ']') break;
      values->push_back(ReadValue());
      if (!SkipBlank(true)) Fail("the list has no ']'");
      if (text_[at_] == ']') break;
      Expect(',', "',' or ']' in the list");
    }
    ++at_;
  }

  std::string ReadValue() {
    if (text_[at_] == '"' || text_[at_] == '\'') return ReadQuoted();
    const std::size_t end = std::min(text_.find_first_of(" \t\r\n,]#", at_), text_.size());
    const std::string_view value = text_.substr(at_, end - at_);
    if (!IsBare(value)) Fail(Quoted(value) + " is no number, true or false; strings need quotes");
    at_ = end;
    return std::string(value);
  }

  std::string ReadQuoted() {
    const char quote = text_[at_++];
    std::string value;
    for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      const char c = text_[at_];
      if (c == quote) {
        ++at_;
        return value;
      }
      value += c == '\\' && quote == '"' ? ReadEscape() : c;
    }
    Fail("a quote is not closed");
  }

  char ReadEscape() {
    const char c = ++at_ < text_.size() ? text_[at_] : ' ';
    if (c == '"' || c == '\\') return c;
    if (c == 't') return '\t';
    if (c == 'n') return '\n';
    std::string problem = "'\\";
    problem += c;
    problem += "' is not known; put the text into single quotes";
    Fail(problem);
  }

  const std::string& source_;
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::string section_;
  std::vector<TomlEntry> entries_;
  std::map<std::pair<std::string, std::string>, int> line_of_;  // by section and key
};

std::string TomlValue(const std::string& value) {
  if (IsBare(value)) return value;
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace

std::vector<TomlEntry> ParseToml(const std::string& source, std::string_view text,
                                 std::vector<TomlSection>* sections) {
  return Parser(source, text).Parse(sections);
}

std::string TomlLine(const std::string& key, const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) list += (list.empty() ? "" : ", ") + TomlValue(value);
  return key + " = " + (values.size() == 1 ? list : "[" + list + "]") + "\n";
}

}  // namespace fathom
