#include "study/unit_record.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fathom {
namespace {

const std::string kGood =
    R"({"study":"uci","dataset":"power","split":3,"method":"gp","scores":{"rows":957,)"
    R"("log_likelihood":-2.8740140015634994,"rmse":4.27273045856785,"coverage_95":1.0},)"
    R"("unseen":{"rows":946,"log_likelihood":-2.9},"train_rows":8611,"test_rows":957,"inputs":4,)"
    R"("fit_seconds":1.529,"settings":{"alpha":0.7,"optimizer":{"steps":0,"tolerance":1e-06},)"
    R"("seed":1},"seed":1,"cpu_seconds":12.0,"wall_seconds":1.545,"peak_memory":31555584,)"
    R"("commit":"7e3d5cc","machine":"AMD EPYC, 2 cores, x86_64","date":"2026-11-16T13:14:56Z"})";
const std::string kFailed =
    R"({"study":"uci","dataset":"year","split":0,"method":"best","failure":"no \"memory\" ±",)"
    R"("settings":{"seed":18446744073709551615},"seed":18446744073709551615,"cpu_seconds":0.001,)"
    R"("wall_seconds":2e-07,"peak_memory":0,"commit":"unknown","machine":"m","date":"d"})";

TEST(UnitRecord, WritingWhatWasReadGivesTheSameBytes) {
  for (const std::string& line :
       {kGood, kFailed,
        // Lines by hand, with less, and by a later program, with more.
        std::string(R"({"dataset":"a","split":0,"method":"b","scores":{}})"),
        std::string(R"({"dataset":"a","split":0,"method":"b","scores":{"novel":1.5}})"),
        std::string(R"({"dataset":"a","split":0,"method":"b","failure":"","z":[1,{}],"energy":2})"),
        std::string(R"({"dataset":"a","split":7,"method":"b","failure":"c","seed":4})")}) {
    const std::optional<UnitRecord> record = ReadRecord(line);
    ASSERT_TRUE(record) << line;
    EXPECT_EQ(WriteRecord(*record), line);
    EXPECT_EQ(ReadRecord(WriteRecord(*record)), record);
  }
}

TEST(UnitRecord, FieldsAreThoseOfTheLine) {
  const UnitRecord record = ReadRecord(kGood).value();
  EXPECT_EQ(record.key(), (UnitKey{"power", 3, "gp"}));
  EXPECT_FALSE(record.failed());
  const UnitScores& scores = record.outcome.scores.value();
  EXPECT_EQ(scores.rows, 957);
  EXPECT_EQ(scores.Get("rmse"), 4.27273045856785);
  EXPECT_EQ(scores.Get("mean_log_likelihood"), scores.Get("log_likelihood"));
  EXPECT_TRUE(std::isnan(scores.Get("crps")));
  EXPECT_FALSE(scores.Has(*FindScore("crps")));
  EXPECT_EQ(record.outcome.unseen->rows, 946);
  EXPECT_EQ(record.cpu_seconds, 12);
  EXPECT_EQ(record.peak_memory, 31555584);
  EXPECT_EQ(SettingsOf(record)["alpha"], 0.7);
  const UnitRecord failed = ReadRecord(kFailed).value();
  EXPECT_TRUE(failed.failed());
  EXPECT_EQ(failed.outcome.failure, "no \"memory\" ±");
  EXPECT_FALSE(failed.outcome.scores);
}

TEST(UnitRecord, WhatIsNoRecordIsNotRead) {
  for (const char* line :
       {"", "null", "3", "[]", "{}",
        "{\"dataset\":", R"({"dataset":"a","split":-1,"method":"b","scores":{}})",
        R"({"dataset":"a","split":1.5,"method":"b","scores":{}})",
        R"({"dataset":"a","split":1,"method":2,"scores":{}})",
        R"({"dataset":"a","split":1,"method":"b"})",
        R"({"dataset":"a","split":1,"method":"b","scores":[1]})",
        R"({"dataset":"a","split":1,"method":"b","scores":{"rmse":"x"}})",
        R"({"dataset":"a","split":1,"method":"b","scores":{"rmse":null}})",
        R"({"dataset":"a","split":1,"method":"b","scores":{},"cpu_seconds":"long"})",
        R"({"dataset":"a","split":1,"method":"b","failure":null})"}) {
    EXPECT_FALSE(ReadRecord(line)) << line;
  }
}

TEST(UnitRecord, AnOutcomeSurvivesTheWayBetweenProcesses) {
  const UnitOutcome outcome = ReadRecord(kGood)->outcome;
  EXPECT_EQ(ReadOutcome(WriteOutcome(outcome)), outcome);
  const UnitOutcome failure{.failure = "gave up"};
  EXPECT_EQ(ReadOutcome(WriteOutcome(failure)), failure);
  EXPECT_FALSE(ReadOutcome("{\"sco"));
}

TEST(UnitRecord, TheFirstSettingThatDiffersIsNamed) {
  const nlohmann::json settings = SettingsOf(*ReadRecord(kGood));
  nlohmann::json others = settings;
  EXPECT_EQ(FirstDifference(settings, others), "");
  others["optimizer"]["steps"] = 5;
  EXPECT_EQ(FirstDifference(settings, others), "optimizer/steps");
  EXPECT_EQ(SettingsOf(UnitRecord()), nlohmann::json::object());
}

}  // namespace
}  // namespace fathom
