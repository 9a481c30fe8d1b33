#include "fathom/base/option_text.h"

#include <gtest/gtest.h>

#include "fathom/base/error.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

TEST(OptionText, ListsAreSplitAtCommas) {
  EXPECT_EQ(SplitLists({"a,b", "c"}), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(SplitLists({"a,"}), (std::vector<std::string>{"a", ""}));
  EXPECT_TRUE(SplitLists({}).empty());
}

TEST(OptionText, DurationsHaveUnits) {
  EXPECT_EQ(ParseDuration("budget", "90"), 90);
  EXPECT_EQ(ParseDuration("budget", "1.5s"), 1.5);
  EXPECT_EQ(ParseDuration("budget", "5m"), 300);
  EXPECT_EQ(ParseDuration("budget", "2h"), 7200);
  for (const char* bad : {"", "s", "-1", "0", "5y", "1e999", "nan", "5 m"}) {
    EXPECT_EQ(ErrorOf([&] { ParseDuration("budget", bad); }).find("budget: "), 0U) << bad;
  }
}

TEST(OptionText, NumbersAreShort) {
  EXPECT_EQ(Short(0.5), "0.5");
  EXPECT_EQ(Short(1.0 / 3), "0.333333");
  EXPECT_EQ(Short(1e10), "1e+10");
}

}  // namespace
}  // namespace fathom
