#include "fathom/data/text_column.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/error.h"
#include "fathom/data/read_table.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

Table EmptyTable(Index rows) {
  Table table;
  table.source = "memory";
  table.columns = {"x", "colour"};
  table.values = Matrix::Zero(rows, 2);
  return table;
}

TEST(TextColumn, IsWhatACsvFileOfTheSameCellsGives) {
  const TestFolder folder;
  const Table read =
      ReadTable(folder.Write("t.csv", "x,colour\n0,red\n0,10\n0, 9 \n0,NA\n0,red\n0,\"a b\"\n"));
  Table made = EmptyTable(6);
  PutTexts(std::vector<std::string>{"a b", "unused", " 9 ", "red", "10"},
           std::vector<Index>{3, 4, 2, -1, 3, 0}, 1, &made);
  EXPECT_EQ(made.levels, read.levels);
  EXPECT_EQ(made.LevelsOf(1), (std::vector<std::string>{"9", "10", "a b", "red"}));
  for (Index n = 0; n < 6; ++n) {
    EXPECT_EQ(std::isnan(made.values(n, 1)), n == 3);
    if (n == 3) continue;
    EXPECT_EQ(made.values(n, 1), read.values(n, 1)) << "row " << n;
  }
}

TEST(TextColumn, TextsThatStandForMissingCellsAreMissing) {
  Table made = EmptyTable(4);
  PutTexts(std::vector<std::string>{"", "n/a", "b", " b"}, std::vector<Index>{0, 1, 2, 3}, 1,
           &made);
  EXPECT_EQ(made.LevelsOf(1), std::vector<std::string>{"b"});
  EXPECT_TRUE(std::isnan(made.values(0, 1)) && std::isnan(made.values(1, 1)));
  EXPECT_EQ(made.values(2, 1), 0);
  EXPECT_EQ(made.values(3, 1), 0);
}

TEST(TextColumn, NumbersBecomeTheirShortestTextsInTheOrderOfTheirValues) {
  Table made = EmptyTable(4);
  made.values.col(1) << 10, std::nan(""), 0.1, 10;
  NumbersToTexts(1, &made);
  EXPECT_EQ(made.LevelsOf(1), (std::vector<std::string>{"0.1", "10"}));
  EXPECT_EQ(made.values(0, 1), 1);
  EXPECT_TRUE(std::isnan(made.values(1, 1)));
  EXPECT_EQ(made.values(2, 1), 0);
}

TEST(TextColumn, WrittenValuesAreThoseOfACsvFile) {
  const TestFolder folder;
  const Table read = ReadTable(
      folder.Write("t.csv", "x,day\n0,31.5.2024\n0,1.6.2024 14:30\n0,NA\n0,-\n0,31.5.2024\n"));
  Table made = EmptyTable(5);
  const std::vector<std::string> texts = {" 31.5.2024", "1.6.2024 14:30", "NA", "-"};
  ASSERT_TRUE(PutWrittenValues(texts, std::vector<Index>{0, 1, 2, 3, 0}, 1, &made));
  EXPECT_EQ(made.FormatOf(1), read.FormatOf(1));
  for (const Index n : {0, 1, 4}) EXPECT_EQ(made.values(n, 1), read.values(n, 1));
  for (const Index n : {2, 3}) EXPECT_TRUE(std::isnan(made.values(n, 1)));
  // Again in the format that is known, and a cell that has another one.
  Table again = EmptyTable(1);
  PutWrittenValues(read.FormatOf(1), std::vector<std::string>{"2.1.2024"}, std::vector<Index>{0}, 1,
                   &again);
  EXPECT_EQ(again.values(0, 1), 19724);
  EXPECT_THROW(PutWrittenValues(read.FormatOf(1), std::vector<std::string>{"soon"},
                                std::vector<Index>{0}, 1, &again),
               Error);
}

TEST(TextColumn, NamesAndPlainNumbersAreNoWrittenValues) {
  for (const char* text : {"red", "0123", "5"}) {
    Table made = EmptyTable(1);
    EXPECT_FALSE(PutWrittenValues(std::vector<std::string>{text}, std::vector<Index>{0}, 1, &made))
        << text;
    EXPECT_TRUE(made.formats.empty());
  }
}

}  // namespace
}  // namespace fathom
