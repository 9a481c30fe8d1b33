// 'fathom bench', run, killed and started again as users do.
#include <poll.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "study/results_file.h"
#include "tests/support/program.h"

namespace fathom {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kStudy =
    "datasets = [\"one\", \"two\"]\n"
    "[gp]\nhidden = 0\ninducing = 8\nsteps = 40\n"
    "[dgp]\nhidden = 1\ninducing = 8\nsteps = 40\nsplits = \"0-1\"\n";
constexpr std::size_t kUnits = 10;

class Bench : public ProgramTest {
 protected:
  void SetUp() override {
    AddDataset("one", Csv(60, 3));
    AddDataset("two", Csv(50, 4));
    folder_.Write("study.toml", kStudy);
  }
  void AddDataset(const std::string& name, const std::string& table,
                  const std::string& splits = "0 5 7\n1 2 3 4\n10 20 30\n") const {
    std::filesystem::create_directories(File("data/" + name));
    folder_.Write("data/" + name + "/data.csv", table);
    folder_.Write("data/" + name + "/test_indices.txt", splits);
  }
  Arguments BenchArguments(const std::string& out, const Arguments& more = {}) const {
    return Join(
        {"bench", File("study.toml"), "--data", File("data"), "--out", File(out), "--threads", "2"},
        more);
  }
  // As JSON, as other programs see them; ReadResults refuses a unit that is there twice.
  std::vector<OrderedJson> Lines(const std::string& out) const {
    std::vector<OrderedJson> lines;
    for (const UnitRecord& record : ReadResults(File(out)))
      lines.push_back(OrderedJson::parse(WriteRecord(record)));
    return lines;
  }
  static UnitKey KeyOf(const OrderedJson& line) {
    return {line["dataset"], line["split"].get<Index>(), line["method"]};
  }
  std::size_t CountIn(const std::string& out) const {
    return CountLines(TestFolder::Read(File(out) + "/results.jsonl"));
  }
  // Starts the program, its words unheard.
  pid_t StartQuietly(const Arguments& arguments) const {
    const int out = ::open(File("printed").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const pid_t child = StartProgram(arguments, {.out = out, .err = out});
    ::close(out);
    return child;
  }
  // Gives the signal once so many lines are there.
  int Interrupt(const Arguments& arguments, const std::string& out, std::size_t lines,
                int signal) const {
    const pid_t child = StartQuietly(arguments);
    while (!std::filesystem::exists(File(out) + "/results.jsonl") || CountIn(out) < lines)
      ::poll(nullptr, 0, 1);
    ::kill(child, signal);
    return ExitCode(child);
  }
  static std::map<UnitKey, OrderedJson> Scores(const std::vector<OrderedJson>& lines) {
    std::map<UnitKey, OrderedJson> scores;
    for (const OrderedJson& line : lines) scores[KeyOf(line)] = line["scores"];
    return scores;
  }
};

TEST_F(Bench, EveryUnitHasALineWithAllThatWasPromised) {
  const std::string said = Good(BenchArguments("out"));
  EXPECT_EQ(CountLines(said), kUnits + 1) << said;
  EXPECT_NE(said.find("study: 10 of 10 units are done, 0 failed"), std::string::npos) << said;
  const std::vector<OrderedJson> lines = Lines("out");
  ASSERT_EQ(lines.size(), kUnits);
  for (const OrderedJson& line : lines) {
    EXPECT_EQ(line["study"], "study");
    for (const char* score : {"log_likelihood", "rmse", "crps", "coverage_50", "coverage_95"})
      EXPECT_TRUE(line["scores"][score].is_number()) << score;
    EXPECT_EQ(line["settings"]["optimizer"]["steps"], 40);
    EXPECT_EQ(line["seed"], 1);
    for (const char* cost : {"cpu_seconds", "wall_seconds", "peak_memory"})
      EXPECT_GT(line[cost], 0) << cost;
    EXPECT_LT(line["peak_memory"], 4e9);
    for (const char* text : {"commit", "machine", "date"})
      EXPECT_FALSE(line[text].get<std::string>().empty()) << text;
    EXPECT_EQ(line["train_rows"].get<int>() + line["test_rows"].get<int>(),
              line["dataset"] == "one" ? 60 : 50);
  }
  // Started again there is nothing to do.
  EXPECT_EQ(CountLines(Good(BenchArguments("out"))), 1U);
  EXPECT_EQ(Lines("out"), lines);
  // One unit at a time gives the same scores, and so does 'fit' on the train rows.
  Good(BenchArguments("alone", {"--threads", "1"}));
  EXPECT_EQ(Scores(Lines("alone")), Scores(lines));
  const std::string table = Csv(60, 3);
  std::istringstream rows(table);
  std::string train, test;
  std::string row;
  for (int n = -1; std::getline(rows, row); ++n) {
    if (n < 0 || (n != 0 && n != 5 && n != 7)) train += row + "\n";
    if (n < 0 || n == 0 || n == 5 || n == 7) test += row + "\n";
  }
  folder_.Write("train.csv", train);
  folder_.Write("test.csv", test);
  Good({"fit", train_, "--target", "y", "-o", model_, "--hidden", "0", "--inducing", "8", "--steps",
        "40"});
  const OrderedJson scores = OrderedJson::parse(Good({"evaluate", model_, test_, "--json"}));
  EXPECT_EQ(scores["rmse"], Scores(lines)[UnitKey("one", 0, "gp")]["rmse"]);
}

TEST_F(Bench, OnlyWhatIsAskedForRuns) {
  const OrderedJson json = OrderedJson::parse(Good(BenchArguments(
      "out", {"--datasets", "two", "--methods", "gp", "--splits", "1-2", "--json"})));
  EXPECT_EQ(json, (OrderedJson{{"study", "study"},
                               {"results", File("out/results.jsonl")},
                               {"units", 2},
                               {"done", 2},
                               {"left", 0},
                               {"failures", OrderedJson::array()}}));
  std::set<UnitKey> keys;
  for (const OrderedJson& line : Lines("out")) keys.insert(KeyOf(line));
  EXPECT_EQ(keys, (std::set<UnitKey>{{"two", 1, "gp"}, {"two", 2, "gp"}}));
  Bad(BenchArguments("out", {"--splits", "2", "--methods", "dgp"}), "nothing to run with these");
  Good(BenchArguments("out"));
  EXPECT_EQ(Lines("out").size(), kUnits);
}

TEST_F(Bench, DataThatTheProgramMakesNeedNoFolderWhateverTheResultsAreCalled) {
  folder_.Write("study.toml",
                "datasets = [\"mountain_car\"]\nsplits = 3\n[gp]\nhidden = 0\nsteps = 5\n");
  const std::string folder = File("");
  const int out = ::open(File("printed").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  EXPECT_EQ(ExitCode(StartProgram({"bench", "study.toml", "--out", "mountain_car"},
                                  {.out = out, .err = out, .folder = folder.c_str()})),
            0);
  ::close(out);
  ASSERT_EQ(Lines("mountain_car").size(), 1U);
  EXPECT_EQ(Lines("mountain_car")[0]["train_rows"], 400);
}

TEST_F(Bench, KilledAtAnyMomentItGoesOnAndRunsNothingTwice) {
  Good(BenchArguments("whole"));
  const std::map<UnitKey, OrderedJson> scores = Scores(Lines("whole"));
  for (const std::size_t lines : {0U, 1U, 2U, 3U, 5U, 8U, 9U}) {
    const int code = Interrupt(BenchArguments("cut"), "cut", lines, SIGKILL);
    const std::size_t kept = Lines("cut").size();
    EXPECT_GE(kept, lines);
    // The last ones may be done before the signal comes.
    EXPECT_TRUE(code == 1000 + SIGKILL || kept == kUnits) << code;
    // The cut-off line of a write that did not end.
    std::ofstream(File("cut/results.jsonl"), std::ios::app) << R"({"dataset":"one","spl)";
    EXPECT_EQ(Lines("cut").size(), kept);
  }
  Good(BenchArguments("cut"));
  EXPECT_EQ(Lines("cut").size(), kUnits);  // ReadResults refuses a unit that stands there twice
  EXPECT_EQ(Scores(Lines("cut")), scores);
}

TEST_F(Bench, CtrlCFinishesWhatRunsAndSaysHowToGoOn) {
  folder_.Write("study.toml", std::string(kStudy) + "[slow]\nsteps = 500\n");
  EXPECT_EQ(Interrupt(BenchArguments("out"), "out", 1, SIGINT), 130);
  const std::string printed = TestFolder::Read(File("printed"));
  EXPECT_NE(printed.find("once more gives them up"), std::string::npos) << printed;
  EXPECT_NE(printed.find("the same command goes on"), std::string::npos) << printed;
  EXPECT_GE(Lines("out").size(), 1U);
  EXPECT_EQ(TestFolder::Read(File("out/results.jsonl")).back(), '\n');
  Good(BenchArguments("out", {"--methods", "gp,dgp"}));
  EXPECT_GE(Lines("out").size(), kUnits);
}

TEST_F(Bench, TwoAtOnceDoNotMix) {
  folder_.Write("study.toml", "datasets = [\"one\"]\n[gp]\nsteps = 100000000\npatience = 0\n");
  const pid_t first = StartQuietly(BenchArguments("out"));
  while (!std::filesystem::exists(File("out/results.jsonl"))) ::poll(nullptr, 0, 1);
  Bad(BenchArguments("out"), "another 'fathom bench'");
  ::kill(first, SIGKILL);
  EXPECT_EQ(ExitCode(first), 1000 + SIGKILL);
  // Its units end with it, and with them goes the lock.
  folder_.Write("study.toml", kStudy);
  Good(BenchArguments("out"));
}

TEST_F(Bench, FailuresAreRecordedToldAndTriedAgain) {
  AddDataset("flat", "a,y\n1,1\n1,2\n1,3\n2,4\n", "3\n2 1\n");  // split 0 trains on one input value
  folder_.Write("study.toml",
                "datasets = [\"flat\"]\nbudget = \"1s\"\n"
                "[gp]\nhidden = 0\nsteps = 5\n"
                "[endless]\nsplits = 1\nsteps = 100000000\npatience = 0\n");
  const Outcome outcome = ProgramTest::Run(BenchArguments("out"));
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.out.find("1 of 3 units are done, 2 failed"), std::string::npos) << outcome.out;
  std::map<UnitKey, std::string> failures;
  for (const OrderedJson& line : Lines("out")) {
    if (line.contains("failure")) failures[KeyOf(line)] = line["failure"];
  }
  ASSERT_EQ(failures.size(), 2U);
  EXPECT_NE(failures[UnitKey("flat", 0, "gp")].find("no two different values"), std::string::npos);
  EXPECT_EQ(failures[UnitKey("flat", 1, "endless")], "out of its budget of 1 s of CPU");
  // They stay failures until somebody asks.
  EXPECT_EQ(CountLines(ProgramTest::Run(BenchArguments("out")).out), 1U);
  const Outcome told = ProgramTest::Run(BenchArguments("out", {"--json"}));
  EXPECT_EQ(told.code, 3);
  const OrderedJson json = OrderedJson::parse(told.out);
  EXPECT_EQ(json["units"], 3);
  EXPECT_EQ(json["done"], 1);
  EXPECT_EQ(json["left"], 0);
  ASSERT_EQ(json["failures"].size(), 2U);
  for (const OrderedJson& failure : json["failures"])
    EXPECT_EQ(failure["failure"], failures[KeyOf(failure)]);
  AddDataset("flat", "a,y\n1,1\n3,2\n1,3\n2,4\n", "3\n2 1\n");
  const Outcome again =
      ProgramTest::Run(BenchArguments("out", {"--retry-failed", "--methods", "gp"}));
  EXPECT_EQ(again.code, 0) << again.out;
  EXPECT_EQ(CountLines(again.out), 2U) << again.out;
  EXPECT_EQ(Lines("out").size(), 3U);
}

TEST_F(Bench, ResultsOfOtherSettingsAreNotMixedUnasked) {
  Good(BenchArguments("out", {"--methods", "gp"}));
  const std::vector<OrderedJson> before = Lines("out");
  std::string study = kStudy;
  study.replace(study.find("steps = 40"), 10, "steps = 41");
  folder_.Write("study.toml", study);
  Bad(BenchArguments("out"), "'optimizer/steps'");
  Good(BenchArguments("out", {"--if-changed", "keep", "--methods", "gp"}));
  EXPECT_EQ(Lines("out"), before);
  Good(BenchArguments("out", {"--if-changed", "redo"}));
  EXPECT_EQ(Lines("out").size(), kUnits);
  for (const OrderedJson& line : Lines("out"))
    EXPECT_EQ(line["settings"]["optimizer"]["steps"], line["method"] == "gp" ? 41 : 40);
}

}  // namespace
}  // namespace fathom
