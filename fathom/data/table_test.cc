#include "fathom/data/table.h"

#include <gtest/gtest.h>

#include "fathom/base/text.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

Table Named(std::vector<std::string> columns) {
  Table table;
  table.source = "train.csv";
  table.values = Matrix::Zero(1, static_cast<Index>(columns.size()));
  table.columns = std::move(columns);
  return table;
}

TEST(FindColumn, FindsByNameFirstAndByNumberOtherwise) {
  const Table table = Named({"age", "1", "height"});
  EXPECT_EQ(FindColumn(table, "height"), 2);
  EXPECT_EQ(FindColumn(table, "1"), 1);  // a column of that name wins over the first column
  EXPECT_EQ(FindColumn(table, "3"), 2);
}

TEST(FindColumn, NamesTheNearestAndTheAvailableColumns) {
  const std::string text = ErrorOf([] { FindColumn(Named({"age", "height"}), "Hieght"); });
  EXPECT_EQ(text,
            "train.csv: there is no column 'Hieght'; did you mean 'height'? the columns are 'age', "
            "'height'");
}

TEST(FindColumn, GuessesNothingFarAway) {
  const std::string text = ErrorOf([] { FindColumn(Named({"age", "height"}), "price"); });
  EXPECT_EQ(text.find("did you mean"), std::string::npos) << text;
}

TEST(FindColumn, RefusesNumbersOutOfRange) {
  for (const char* const number : {"0", "4", "-1", "1x", "99999999999999999999", ""}) {
    EXPECT_THROW(FindColumn(Named({"a", "b", "c"}), number), Error) << number;
  }
}

TEST(FindColumn, RefusesAnAmbiguousName) {
  const std::string text = ErrorOf([] { FindColumn(Named({"a", "b", "a"}), "a"); });
  EXPECT_NE(text.find("columns 1 and 3 are both called 'a'"), std::string::npos) << text;
}

TEST(Quoted, IsOneShortLine) {
  EXPECT_EQ(Quoted("a\nb\x01"), "'a?b?'");
  const std::string cut = Quoted(std::string(100, 'x'));
  EXPECT_EQ(cut, "'" + std::string(60, 'x') + "...'");
  // 59 letters and a two-byte letter: the cut at 60 must not split it.
  EXPECT_EQ(Quoted(std::string(59, 'x') + "\xc3\xa4yyyyyy"), "'" + std::string(59, 'x') + "...'");
}

TEST(QuotedList, CountsWhatItLeavesOut) {
  const std::vector<std::string> names = {"a", "b", "c"};
  EXPECT_EQ(QuotedList(names, 2), "'a', 'b' and 1 more");
  EXPECT_EQ(QuotedList(names, 3), "'a', 'b', 'c'");
}

TEST(IsUtf8, AcceptsWhatJsonAcceptsAndNothingElse) {
  for (const char* const good : {"", "abc", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    EXPECT_TRUE(IsUtf8(good)) << good;
  }
  // A lone Latin-1 byte, a cut character, an overlong '/', a surrogate, beyond the last code point.
  for (const char* const bad :
       {"\xe4", "\xe2\x82", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\x80"}) {
    EXPECT_FALSE(IsUtf8(bad)) << bad;
  }
}

}  // namespace
}  // namespace fathom
