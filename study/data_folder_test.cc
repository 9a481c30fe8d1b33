#include "study/data_folder.h"

#include <gtest/gtest.h>

#include <cmath>

#include <filesystem>

#include "fathom/data/dataset.h"
#include "study/made_data.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

class DataFolder : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& data, const std::string& splits) const {
    std::filesystem::create_directory(folder_.Path(name));
    folder_.Write(name + "/data.csv", data);
    folder_.Write(name + "/test_indices.txt", splits);
  }
  SplitData Load(const std::string& name, const DataFolderOptions& options = {}) const {
    return LoadSplitData(folder_.Path(""), name, options);
  }
  void ExpectError(const std::string& name, const std::vector<std::string>& words,
                   const DataFolderOptions& options = {}) const {
    const std::string text = ErrorOf([&] { Load(name, options); });
    for (const std::string& word : words)
      EXPECT_NE(text.find(word), std::string::npos) << "does not name " << word << ": " << text;
  }

  TestFolder folder_;
};

TEST_F(DataFolder, TargetIsTheLastColumnAndEachLineIsASplit) {
  Write("small", "a,b,price\n1,2,3\n4,5,6\n7,8,9\n1,1,1\n", "3 0\n1\n");
  const SplitData data = Load("small");
  EXPECT_EQ(data.roles.targets, std::vector<std::string>{"price"});
  EXPECT_EQ(data.table.values.rows(), 4);
  ASSERT_EQ(data.splits.size(), 2U);
  EXPECT_EQ(data.splits[0].held_out, (std::vector<Index>{0, 3}));
  EXPECT_EQ(data.splits[0].train, (std::vector<Index>{1, 2}));
  EXPECT_EQ(data.splits[1].held_out, (std::vector<Index>{1}));
  const Dataset train = MakeDataset(TableRows(data.table, data.splits[0].train), data.roles);
  EXPECT_EQ(train.targets()(1, 0), 9);
  EXPECT_EQ(train.schema().FeatureNames(), (std::vector<std::string>{"a", "b"}));
}

TEST_F(DataFolder, ColumnsOfBitsNeedNotBeInEveryDataset) {
  Write("molecules", "name,fp,mass,y\nfirst,0a,2,1\nsecond,F1,3,2\n", "0\n");
  const SplitData data =
      Load("molecules", {.roles = {.ignore = {"name", "no such column"}}, .bits = {"fp"}});
  EXPECT_EQ(data.table.columns.size(), 10U);
  EXPECT_EQ(data.table.columns[1], "y");
  EXPECT_EQ(data.table.columns[2], "fp:0");
  EXPECT_EQ(data.roles.targets, std::vector<std::string>{"y"});
  EXPECT_EQ(Load("molecules", {.roles = {.ignore = {"name", "fp"}}, .bits = {"other"}})
                .table.columns.size(),
            2U);
}

// Year: the songs of the real table have mean 1998.4 and deviation 10.9.
TEST_F(DataFolder, AStandInForTheYearTableIsMade) {
  const SplitData data = LoadSplitData("", "year_made", {});
  ASSERT_EQ(data.splits.size(), 1U);
  EXPECT_EQ(data.splits[0].train.size(), 463715U);
  EXPECT_EQ(data.splits[0].held_out.size(), 51630U);
  EXPECT_EQ(data.table.values.cols(), 91);
  EXPECT_EQ(data.roles.targets, std::vector<std::string>{"year"});
  const auto year = data.table.values.col(90).array();
  EXPECT_NEAR(year.mean(), 1998.4, 1);
  EXPECT_NEAR(std::sqrt((year - year.mean()).square().mean()), 10.9, 1.5);
  EXPECT_GE(year.minCoeff(), 1922);
  EXPECT_LE(year.maxCoeff(), 2011);
  EXPECT_TRUE((year == year.floor()).all());
}

TEST_F(DataFolder, TestRowsThatAreTrainRowsTooAreFound) {
  Write("twins", "a,y\n1,2\n1,2\n1,3\n5,6\n5,6\n", "1 2 3\n");
  const SplitData data = Load("twins");
  // Row 1 is row 0 again; row 2 has another target; row 3 is row 4 again.
  EXPECT_EQ(UnseenRows(data.table, data.splits[0]), std::vector<Index>{1});
}

TEST_F(DataFolder, BadFoldersAreToldWithFileLineAndCure) {
  const std::string data = "a,y\n1,2\n3,4\n5,6\n";
  Write("boston", data, "0\n");
  ExpectError("bostn", {"'bostn'", "did you mean 'boston'?", "test_indices.txt"});
  EXPECT_NE(ErrorOf([] { LoadSplitData("/nowhere", "boston", {}); }).find("no such folder"),
            std::string::npos);
  std::filesystem::remove(folder_.Path("boston/test_indices.txt"));
  ExpectError("boston", {"boston/test_indices.txt", "no such file"});
  std::filesystem::remove(folder_.Path("boston/data.csv"));
  ExpectError("boston", {"boston/data.csv", "no such file"});
  const std::vector<std::pair<std::string, std::vector<std::string>>> splits = {
      {"", {"empty", "line per split"}},
      {"0\n\n1\n", {"line 2", "no row to test on"}},
      {"0 1 2\n", {"line 1", "no row to train on"}},
      {"0\n3\n", {"line 2", "'3'", "from 0 to 2"}},
      {"0\n-1\n", {"line 2", "'-1'"}},
      {"1.5\n", {"line 1", "'1.5'"}},
      {"0,1\n", {"line 1", "'0,1'"}},
      {"0 1 0\n", {"line 1", "row 0", "twice"}}};
  for (const auto& [text, words] : splits) {
    Write("bad", data, text);
    ExpectError("bad", words);
  }
  Write("text", "a,y\n1,2\nred,4\n5,6\n", "0\n");
  ExpectError("text", {"text/data.csv", "line 3", "'red'"});
}

TEST_F(DataFolder, MountainCarNeedsNoFolderButGivesWayToOne) {
  EXPECT_TRUE(CanMakeData("mountain_car"));
  const SplitData made = LoadSplitData("", "mountain_car", {});
  EXPECT_EQ(made.table.values.rows(), 2400);
  ASSERT_EQ(made.splits.size(), 10U);
  for (const Split& split : made.splits) EXPECT_EQ(split.train.size(), 400U);
  EXPECT_NE(made.splits[0].train, made.splits[1].train);
  EXPECT_EQ(made.table.values, LoadSplitData("", "mountain_car", {}).table.values);
  Write("mountain_car", "a,y\n1,2\n3,4\n5,6\n", "0\n");
  EXPECT_EQ(Load("mountain_car").table.values.rows(), 3);
}

}  // namespace
}  // namespace fathom
