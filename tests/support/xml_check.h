// A strict reader of the part of XML that figures use, for tests.
#ifndef FATHOM_TESTS_SUPPORT_XML_CHECK_H_
#define FATHOM_TESTS_SUPPORT_XML_CHECK_H_

#include <string>
#include <string_view>
#include <vector>

namespace fathom {

class XmlCheck {
 public:
  explicit XmlCheck(std::string_view document) : rest_(document) {}

  // Document = declaration, one element, nothing but line ends around it.
  bool WellFormed() {
    if (!Take("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n") || !Element()) return false;
    while (Take("\n")) {
    }
    return rest_.empty();
  }
  // What is left from the first fault on.
  std::string Rest() const { return std::string(rest_.substr(0, 80)); }

 private:
  bool Take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  std::string_view Name() {
    const std::size_t length =
        rest_.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
    const std::string_view name = rest_.substr(0, length);
    rest_.remove_prefix(name.size());
    return name;
  }

  // Text up to `end`, with '&' only as one of the entities.
  bool TextUpTo(char end) {
    while (!rest_.empty() && rest_.front() != end) {
      if (rest_.front() == '<') return false;
      if (rest_.front() != '&') {
        rest_.remove_prefix(1);
      } else if (!Take("&amp;") && !Take("&lt;") && !Take("&gt;") && !Take("&quot;")) {
        return false;
      }
    }
    return !rest_.empty();
  }

  bool Element() {
    if (!Take("<")) return false;
    const std::string_view tag = Name();
    if (tag.empty()) return false;
    std::vector<std::string_view> seen;
    while (Take(" ")) {
      const std::string_view name = Name();
      for (const std::string_view other : seen) {
        if (other == name) return false;
      }
      seen.push_back(name);
      if (name.empty() || !Take("=\"") || !TextUpTo('"') || !Take("\"")) return false;
    }
    if (Take("/>")) return true;
    if (!Take(">")) return false;
    while (TextUpTo('<')) {
      if (Take("</")) return Name() == tag && Take(">");
      if (!Element()) return false;
    }
    return false;
  }

  std::string_view rest_;
};

// Where `document` stops being well-formed XML; empty if it does not.
inline std::string WhatIsWrongWithXml(std::string_view document) {
  XmlCheck check(document);
  return check.WellFormed() ? "" : "wrong at: " + check.Rest();
}

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_XML_CHECK_H_
