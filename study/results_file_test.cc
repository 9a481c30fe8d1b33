#include "study/results_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/test_folder.h"

namespace fathom {
namespace {

UnitRecord Record(const std::string& dataset, Index split, bool good = true) {
  UnitRecord record{.dataset = dataset, .split = split, .method = "gp"};
  if (good) {
    record.outcome.scores = UnitScores{{}, {{"rmse", 0.1 + static_cast<double>(split)}}};
  } else {
    record.outcome.failure = "numbers gave out";
  }
  return record;
}

class ResultsFileTest : public testing::Test {
 protected:
  TestFolder place_;
  const std::string folder_ = place_.Path("deep/results");
  const std::string file_ = folder_ + "/results.jsonl";
};

TEST_F(ResultsFileTest, LinesAreKeptAndAddedTo) {
  EXPECT_TRUE(ReadResults(folder_).empty());
  {
    ResultsFile results(folder_);
    results.Append(Record("boston", 0));
    results.Append(Record("boston", 1));
    EXPECT_EQ(ReadResults(folder_), results.records());
  }
  ResultsFile results(folder_);
  results.Append(Record("yacht", 0, false));
  const std::vector<UnitRecord> lines = ReadResults(folder_);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1], Record("boston", 1));
  EXPECT_EQ(lines[2].key(), (UnitKey{"yacht", 0, "gp"}));
  EXPECT_TRUE(lines[2].failed());
  EXPECT_FALSE(lines[1].failed());
  results.RemoveIf([](const UnitRecord& record) { return record.failed(); });
  EXPECT_EQ(ReadResults(folder_).size(), 2U);
  results.Append(Record("yacht", 0));
  EXPECT_EQ(ReadResults(folder_).size(), 3U);
}

TEST_F(ResultsFileTest, ALineThatWasCutDoesNotCountWhereverItWasCut) {
  const std::string whole = WriteRecord(Record("boston", 0)) + "\n";
  const std::string last = WriteRecord(Record("boston", 1)) + "\n";
  std::filesystem::create_directories(folder_);
  for (std::size_t size = 0; size < last.size(); ++size) {
    std::ofstream(file_) << whole << last.substr(0, size);
    EXPECT_EQ(ReadResults(folder_).size(), 1U) << size;
    ResultsFile results(folder_);
    EXPECT_EQ(results.records().size(), 1U) << size;
    results.Append(Record("boston", 1));
    EXPECT_EQ(TestFolder::Read(file_), whole + last) << size;
  }
}

TEST_F(ResultsFileTest, OnlyOneAtATimeMayAdd) {
  {
    const ResultsFile first(folder_);
    const std::string error = ErrorOf([&] { ResultsFile second(folder_); });
    EXPECT_NE(error.find("another 'fathom bench'"), std::string::npos) << error;
    EXPECT_TRUE(ReadResults(folder_).empty()) << "reading is free";
  }
  const ResultsFile second(folder_);
}

TEST_F(ResultsFileTest, WhatIsNoResultIsRefusedWithItsLine) {
  std::filesystem::create_directories(folder_);
  const std::string good = WriteRecord(Record("boston", 0)) + "\n";
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
