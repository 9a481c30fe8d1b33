#include "fathom/data/bits.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/data/dataset.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

class Bits : public testing::Test {
 protected:
  FileBytes File(const std::string& text) { return FileBytes(folder_.Write("t.csv", text)); }
  std::string Fault(const std::string& text) {
    return ErrorOf([&] { ReadTableWithBits(File(text), {}, {{"fp"}}); });
  }

  TestFolder folder_;
};

TEST_F(Bits, DigitsBecomeColumnsHighestBitFirst) {
  const Table table = ReadTableWithBits(File("name,fp,mass,y\na,0a,2,1\nb,F1,3,2\n"),
                                        {.ignore = {"name"}}, {{"fp"}});
  ASSERT_EQ(table.columns.size(), 10U);
  EXPECT_EQ(table.columns[0], "mass");
  EXPECT_EQ(table.columns[2], "fp:0");
  EXPECT_EQ(table.columns[9], "fp:7");
  const Matrix expected = (Matrix(2, 10) << 2, 1, 0, 0, 0, 0, 1, 0, 1, 0,  //
                           3, 2, 1, 1, 1, 1, 0, 0, 0, 1)
                              .finished();
  EXPECT_EQ(table.values, expected);
  EXPECT_EQ(table.left_out, std::vector<std::string>{"name"});
}

TEST_F(Bits, DigitsThatLookLikeANumberAndAPrefixAreFine) {
  const Table table = ReadTableWithBits(File("fp,y\n10,1\n0x23,2\n"), {}, {{"1"}});
  ASSERT_EQ(table.values.cols(), 9);
  EXPECT_EQ(table.columns[0], "y");
  EXPECT_EQ(table.values(0, 4), 1);
  EXPECT_EQ(table.values(1, 3), 1);
}

TEST_F(Bits, AMissingCellIsMissingBits) {
  const Table table = ReadTableWithBits(File("fp,y\nNA,1\nf,2\n"), {}, {{"fp"}});
  EXPECT_TRUE(std::isnan(table.values(0, 1)));
  EXPECT_EQ(table.values(1, 1), 1);
}

TEST_F(Bits, FaultsNameRowAndColumn) {
  EXPECT_NE(
      Fault("fp,y\n0a,1\nF,2\n").find("row 2, column 'fp': 1 digits, but the first row has 2"),
      std::string::npos);
  EXPECT_NE(Fault("fp,y\n0a,1\n0g,2\n").find("'0g' is not made of hexadecimal digits"),
            std::string::npos);
  EXPECT_NE(Fault("pf,y\n0a,1\n").find("no column 'fp'"), std::string::npos);
  EXPECT_NE(Fault("fp,y\n,1\n,2\n").find("all its cells are missing"), std::string::npos);
}

TEST_F(Bits, CellsInMemoryAreTheSame) {
  const Table read = ReadTableWithBits(File("y,fp\n1,0xa3\n2,NA\n3,1F\n"), {}, BitColumns({"fp"}));
  Table table = ReadTable(File("y\n1\n2\n3\n"), {});
  AppendBits({"fp"}, {"0xa3", "", "1F"}, &table);
  EXPECT_EQ(table.columns, read.columns);
  EXPECT_EQ(table.values.row(0), read.values.row(0));
  EXPECT_TRUE(std::isnan(table.values(1, 8)));
  EXPECT_EQ(table.values.row(2), read.values.row(2));
  EXPECT_THROW(AppendBits({"fp"}, {"a", "b", "xy"}, &table), Error);
}

// A model remembers the bits that varied; the table of new rows has digits.
TEST_F(Bits, ASchemaFindsItsColumnsAgain) {
  const Roles roles{.targets = {"y"}};
  const Dataset train = MakeDataset(
      ReadTableWithBits(File("fp,y\n3,1\n5,2\n1,4\n"), ReadingFor(roles, {}), {{"fp"}}), roles);
  EXPECT_EQ(train.schema().FeatureNames(), (std::vector<std::string>{"fp:1", "fp:2"}));
  const FileBytes rows = File("fp\n4\n");
  const ReadOptions reading = ReadingFor(train.schema(), {});
  const std::vector<BitColumn> found = BitColumnsFor(train.schema(), rows, {});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "fp");
  EXPECT_EQ(found[0].needed, 3);
  const Table table = ReadTableWithBits(rows, reading, found);
  EXPECT_EQ(InputRows(table, train.schema()).Read().inputs().mean,
            (Matrix(1, 2) << 1, 0).finished());
  EXPECT_TRUE(BitColumnsFor(train.schema(), File("fp:1,fp:2\n1,0\n"), {}).empty());
  EXPECT_TRUE(BitColumnsFor(train.schema(), File("other\n1\n"), {}).empty());
}

TEST_F(Bits, LongCellsOf0And1AreOneBitADigit) {
  const std::string one = std::string(39, '0') + "1", other = "1" + std::string(39, '0');
  const std::string text = "fp,y\n" + one + ",1\n" + other + ",2\n";
  const Table table = ReadTableWithBits(File(text), {}, {{"fp"}});
  ASSERT_EQ(table.values.cols(), 41);
  EXPECT_EQ(table.values(0, 40), 1);
  EXPECT_EQ(table.values(1, 1), 1);
  EXPECT_EQ(table.values.rightCols(40).sum(), 2);
  // A model that knows more bits than there are digits has learnt from hexadecimal ones.
  EXPECT_EQ(ReadTableWithBits(File(text), {}, {{"fp", 150}}).values.cols(), 161);
  EXPECT_EQ(ReadTableWithBits(File("fp,y\n0x" + one + ",1\n"), {}, {{"fp"}}).values.cols(), 161);
}

TEST_F(Bits, AreRecognised) {
  const std::string sparse = "00a1000002000080";
  EXPECT_TRUE(LookLikeBits({sparse, "1000000400100002", "NA"}, {}));
  EXPECT_TRUE(LookLikeBits({std::string(40, '1'), std::string(39, '1') + "0"}, {}));
  EXPECT_FALSE(LookLikeBits({sparse, "10"}, {}));
  EXPECT_FALSE(LookLikeBits({"12", "34"}, {}));
  EXPECT_FALSE(LookLikeBits({"a long text of words"}, {}));
  EXPECT_FALSE(LookLikeBits({"9e107d9d372bb6826bd81d3542a419d6"}, {})) << "an identifier";
  EXPECT_FALSE(LookLikeBits({}, {}));
}

}  // namespace
}  // namespace fathom
