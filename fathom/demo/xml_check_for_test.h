// A strict reader of the part of XML that figures use, for tests.
#ifndef FATHOM_DEMO_XML_CHECK_FOR_TEST_H_
#define FATHOM_DEMO_XML_CHECK_FOR_TEST_H_

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

namespace fathom {

inline std::string WhatIsWrongWithText(const std::string& text) {
  static const std::regex entity("&(amp|lt|gt|quot|apos);");
  const std::string rest = std::regex_replace(text, entity, "");
  if (rest.find_first_of("&<") != std::string::npos) return "not escaped: " + text;
  return "";
}

// What keeps `document` from being well-formed XML; empty if nothing does.
inline std::string WhatIsWrongWithXml(const std::string& document) {
  static const std::regex tag_form("(/?)([A-Za-z]+)((?: [A-Za-z0-9-]+=\"[^\"<]*\")*)(/?)");
  const std::string head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  if (document.compare(0, head.size(), head) != 0) return "no XML declaration";
  std::vector<std::string> open;
  std::size_t at = head.size();
  bool root_seen = false;
  while (at < document.size()) {
    if (document[at] != '<') {
      const std::size_t end = std::min(document.find('<', at), document.size());
      const std::string text = document.substr(at, end - at);
      if (open.empty() && text.find_first_not_of('\n') != std::string::npos)
        return "text outside: " + text;
      if (const std::string fault = WhatIsWrongWithText(text); !fault.empty()) return fault;
      at = end;
      continue;
    }
    // A '>' within an attribute is escaped by our writer, so the next one ends the tag.
    const std::size_t end = document.find('>', at);
    if (end == std::string::npos) return "tag without end";
    std::string tag = document.substr(at + 1, end - at - 1);
    at = end + 1;
    // Long path data would exhaust the recursion of std::regex and cannot hold anything to escape.
    static const std::string path_start = " d=\"";
    if (const std::size_t d = tag.find(path_start); d != std::string::npos) {
      const std::size_t from = d + path_start.size();
      const std::size_t to = tag.find('"', from);
      if (to == std::string::npos) return "path without end";
      if (tag.find_first_of("<&") < to) return "path with markup";
      tag.erase(from, to - from);
    }
    std::smatch parts;
    if (!std::regex_match(tag, parts, tag_form)) return "malformed tag: " + tag;
    if (const std::string fault = WhatIsWrongWithText(parts[3]); !fault.empty()) return fault;
    if (parts[1].length() > 0) {
      if (open.empty() || open.back() != parts[2]) return "closes what is not open: " + tag;
      open.pop_back();
    } else {
      if (open.empty() && root_seen) return "second root: " + tag;
      root_seen = true;
      if (parts[4].length() == 0) open.push_back(parts[2]);
    }
  }
  if (!open.empty()) return "never closed: " + open.back();
  return root_seen ? "" : "no root";
}

}  // namespace fathom

#endif  // FATHOM_DEMO_XML_CHECK_FOR_TEST_H_
