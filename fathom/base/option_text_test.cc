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

TEST(ParseBytes, ReadsAmountsWithAUnit) {
  EXPECT_EQ(ParseBytes("--memory", "500MB"), 5e8);
  EXPECT_EQ(ParseBytes("--memory", "1.5GB"), 1.5e9);
  EXPECT_EQ(ParseBytes("--memory", "8kB"), 8e3);
  for (const char* bad : {"", "2", "GB", "-1GB", "0MB", "2 GB", "infGB", "2GBs", "1e999GB"}) {
    EXPECT_THROW(ParseBytes("--memory", bad), Error) << bad;
  }
}

}  // namespace
}  // namespace fathom
