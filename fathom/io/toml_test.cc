#include "fathom/io/toml.h"

#include <gtest/gtest.h>

#include "fathom/base/error.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

using Values = std::vector<std::string>;

TEST(Toml, EntriesKnowTheirSectionAndLine) {
  std::vector<TomlSection> sections;
  const std::vector<TomlEntry> entries = ParseToml("f",
                                                   "# a comment\n"
                                                   "steps = 500  # and another\n"
                                                   "name = \"a \\\"b\\\" # c\"\n"
                                                   "\n"
                                                   "[ fit ]\n"
                                                   "list = [1, 'two',\n  true]\r\n"
                                                   "[empty]\n",
                                                   &sections);
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].section, "");
  EXPECT_EQ(entries[0].key, "steps");
  EXPECT_EQ(entries[0].values, Values{"500"});
  EXPECT_EQ(entries[1].values, Values{"a \"b\" # c"});
  EXPECT_EQ(entries[1].line, 3);
  EXPECT_EQ(entries[2].section, "fit");
  EXPECT_EQ(entries[2].values, (Values{"1", "two", "true"}));
  ASSERT_EQ(sections.size(), 2U);
  EXPECT_EQ(sections[1].name, "empty");
  EXPECT_EQ(sections[1].line, 8);
}

TEST(Toml, FaultsAreNamedWithTheirLine) {
  for (const char* text : {"a", "a =", "a = b", "a = [1", "a = 'b", "[s", "a = 1 2", "a = 1\na = 2",
                           R"(a = "\q")", "= 3"}) {
    EXPECT_EQ(ErrorOf([&] { ParseToml("f.toml", text); }).find("f.toml: line "), 0U) << text;
  }
}

TEST(Toml, WrittenLinesReadBack) {
  for (const Values& values :
       {Values{"3.5"}, Values{"true"}, Values{"a \"b\" \\ \n\t"}, Values{"1", "x,y"}, Values{}}) {
    const std::vector<TomlEntry> entries = ParseToml("f", TomlLine("key", values));
    ASSERT_EQ(entries.size(), 1U);
    EXPECT_EQ(entries[0].values, values);
  }
}

}  // namespace
}  // namespace fathom
