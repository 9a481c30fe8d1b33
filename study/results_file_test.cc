#include "study/results_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/test_folder.h"

namespace fathom {
namespace {

using Json = nlohmann::ordered_json;

Json Line(const std::string& dataset, unsigned split, bool good = true) {
  Json line = {{"dataset", dataset}, {"split", split}, {"method", "gp"}};
  if (good) {
    line["scores"] = {{"rmse", 0.1 + split}};
  } else {
    line["failure"] = "numbers gave out";
  }
  return line;
}

class Results : public testing::Test {
 protected:
  TestFolder place_;
  const std::string folder_ = place_.Path("deep/results");
  const std::string file_ = folder_ + "/results.jsonl";
};

TEST_F(Results, LinesAreKeptAndAddedTo) {
  EXPECT_TRUE(ReadResults(folder_).empty());
  {
    ResultsFile results(folder_);
    results.Append(Line("boston", 0));
    results.Append(Line("boston", 1));
    EXPECT_EQ(ReadResults(folder_), results.lines());
  }
  ResultsFile results(folder_);
  results.Append(Line("yacht", 0, false));
  const std::vector<Json> lines = ReadResults(folder_);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1], Line("boston", 1));
  EXPECT_EQ(KeyOf(lines[2]), (UnitKey{"yacht", 0, "gp"}));
  EXPECT_TRUE(IsFailure(lines[2]));
  EXPECT_FALSE(IsFailure(lines[1]));
  results.RemoveIf(IsFailure);
  EXPECT_EQ(ReadResults(folder_).size(), 2U);
  results.Append(Line("yacht", 0));
  EXPECT_EQ(ReadResults(folder_).size(), 3U);
}

TEST_F(Results, ALineThatWasCutDoesNotCountWhereverItWasCut) {
  const std::string whole = Line("boston", 0).dump() + "\n";
  const std::string last = Line("boston", 1).dump() + "\n";
  std::filesystem::create_directories(folder_);
  for (std::size_t size = 0; size < last.size(); ++size) {
    std::ofstream(file_) << whole << last.substr(0, size);
    EXPECT_EQ(ReadResults(folder_).size(), 1U) << size;
    ResultsFile results(folder_);
    EXPECT_EQ(results.lines().size(), 1U) << size;
    results.Append(Line("boston", 1));
    EXPECT_EQ(TestFolder::Read(file_), whole + last) << size;
  }
}

TEST_F(Results, OnlyOneAtATimeMayAdd) {
  {
    const ResultsFile first(folder_);
    const std::string error = ErrorOf([&] { ResultsFile second(folder_); });
    EXPECT_NE(error.find("another 'fathom bench'"), std::string::npos) << error;
    EXPECT_TRUE(ReadResults(folder_).empty()) << "reading is free";
  }
  const ResultsFile second(folder_);
}

TEST_F(Results, WhatIsNoResultIsRefusedWithItsLine) {
  std::filesystem::create_directories(folder_);
  const std::string good = Line("boston", 0).dump() + "\n";
  for (const std::string bad : {"{\"a\":1}\n", "nonsense\n", "[]\n", "\n",
                                R"({"dataset":"a","split":-1,"method":"b","scores":{}})"
                                "\n",
                                R"({"dataset":"a","split":1,"method":"b"})"
                                "\n"}) {
    std::ofstream(file_) << good << bad;
    const std::string error = ErrorOf([&] { ReadResults(folder_); });
    EXPECT_NE(error.find("results.jsonl: line 2: "), std::string::npos) << error;
    EXPECT_EQ(ErrorOf([&] { ResultsFile results(folder_); }), error);
    EXPECT_EQ(TestFolder::Read(file_), good + bad) << "must not be touched";
  }
  std::ofstream(file_) << good << good;
  EXPECT_NE(ErrorOf([&] { ReadResults(folder_); }).find("twice"), std::string::npos);
}

}  // namespace
}  // namespace fathom
