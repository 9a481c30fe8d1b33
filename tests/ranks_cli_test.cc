// Trainings on several ranks, through mpirun and the built program.
#include <gtest/gtest.h>
#include <poll.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "fathom/base/random.h"
#include "fathom/train/checkpoint.h"
#include "study/results_file.h"
#include "tests/support/mpi_program.h"
#include "tests/support/places.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

enum class Kind { kNumbers, kClasses, kMissing };

std::string TableOf(Kind kind, Index rows) {
  RandomStream stream(5);
  std::ostringstream out;
  out << "a,b,w,y\n";
  for (Index n = 0; n < rows; ++n) {
    const double a = stream.Normal();
    const double b = stream.Normal();
    const double y = a * b + 0.2 * stream.Normal();
    const bool gap = kind == Kind::kMissing && n % 7 == 0;
    out << (gap ? "" : std::to_string(a)) << "," << b << "," << 1 + n % 3 << ",";
    if (kind == Kind::kClasses) {
      out << (y < -0.3 ? "low" : y < 0.3 ? "middle" : "high") << "\n";
    } else {
      out << y << "\n";
    }
  }
  return out.str();
}

class RanksCli : public RanksTest {
 protected:
  Arguments Fit(const std::string& model, const Arguments& more = {}) const {
    return Join({"fit", train_, "--target", "y", "--weights", "w", "-o", model, "--stack", "never",
                 "--inducing", "12", "--warm-up", "5", "--batch", "200", "--patience", "0"},
                more);
  }
  // Long enough to be interrupted. A small network, since ranks that wait take processor time, too.
  Arguments LongFit(const std::string& model) const {
    return Fit(model, {"--steps", "4000", "--threads", "1", "--log", File("log"), "--hidden", "2",
                       "--inducing", "4", "--checkpoint-every", "0.02s"});
  }
  // A model that was trained without a break, on one rank.
  std::string Whole() const {
    Good(LongFit(model_));
    std::string whole = Bytes(model_);
    fs::remove(File("log"));
    fs::remove(model_);
    return whole;
  }

  const std::string train_ = File("train.csv");
  const std::string model_ = File("model.fathom");
};

TEST_F(RanksCli, AnyNumberOfRanksAndThreadsGivesTheSameModel) {
  for (const Kind kind : {Kind::kNumbers, Kind::kClasses, Kind::kMissing}) {
    std::ofstream(train_) << TableOf(kind, 400);
    for (const std::string threads : {"1", "2"}) {
      const Arguments fit = Fit(model_, {"--steps", "6", "--threads", threads});
      Good(fit);
      const std::string alone = Bytes(model_);
      for (const int ranks : {2, 3, 4}) {
        fs::remove(model_);
        GoodRanks(ranks, fit);
        EXPECT_TRUE(Bytes(model_) == alone) << ranks << " ranks, " << threads << " threads";
      }
    }
  }
}

// Rows over several lines are among them.
std::string TableOfMegabytes() {
  std::string table = TableOf(Kind::kMissing, 70'000);
  for (int n = 0; n < 100; ++n) table += "\"0.5\n\",\"\n0.25\",1,0.125\n";
  return table;
}

TEST_F(RanksCli, ATableThatAllParseIsTheSameOne) {
  std::ofstream(train_) << TableOfMegabytes();
  const Arguments fit = Fit(model_, {"--steps", "3", "--threads", "1"});
  Good(fit);
  const std::string alone = Bytes(model_);
  fs::remove(model_);
  GoodRanks(3, fit);
  EXPECT_TRUE(Bytes(model_) == alone);
  fs::remove(model_);
  const Outcome packed = RunRanks(3, Join(fit, {"--memory", "150MB"}));
  EXPECT_EQ(packed.code, 0) << packed.err;
  EXPECT_TRUE(Bytes(model_) == alone);
  const Arguments evaluate = {"evaluate", model_, train_, "--json", "--threads", "1"};
  EXPECT_EQ(GoodRanks(2, evaluate), Good(evaluate));
}

TEST_F(RanksCli, RowsThatStayWithTheirRanksGiveTheSameModel) {
  for (const Kind kind : {Kind::kNumbers, Kind::kClasses, Kind::kMissing}) {
    std::ofstream(train_) << TableOf(kind, 90'000);
    const Arguments fit = {"fit",       train_, "--target", "y",     "--ignore",   "w",
                           "-o",        model_, "--stack",  "never", "--steps",    "3",
                           "--threads", "1",    "--batch",  "200",   "--inducing", "12"};
    const Arguments resume = {"resume", model_, "--steps", "2", "--threads", "1"};
    Good(fit);
    const std::string alone = Bytes(model_);
    Good(resume);
    const std::string further = Bytes(model_);
    fs::remove(model_);
    GoodRanks(2, fit);
    EXPECT_TRUE(Bytes(model_) == alone);
    GoodRanks(3, resume);
    EXPECT_TRUE(Bytes(model_) == further);
    fs::remove(model_);
    // There are six groups of rows, so that a rank of seven has none.
    const Outcome packed = RunRanks(7, Join(fit, {"--memory", "150MB"}));
    EXPECT_EQ(packed.code, 0) << packed.err;
    EXPECT_TRUE(Bytes(model_) == alone);
  }
}

TEST_F(RanksCli, AFullDiskOfOneRankEndsAllWithOneLine) {
  // Indicators of many categories, with variances: a share of more than 75 MB, half of --memory.
  // Classes, because columns of numbers would be screened for those that matter, which takes long.
  std::ostringstream table;
  table << "a,b,c,y\n,1,1,yes\n";
  for (int n = 0; n < 36'000; ++n)
    table << "a" << n % 97 << ",b" << n % 95 << ",c" << n % 89 << (n % 2 == 0 ? ",yes\n" : ",no\n");
  std::ofstream(train_) << table.str();
  const std::string checkpoint = model_ + ".checkpoint";
  std::ofstream(checkpoint) << "of an earlier training";
  const Arguments fit = {"fit",      train_,  "--target",   "y", "-o",        model_,
                         "--stack",  "never", "--hidden",   "0", "--threads", "1",
                         "--memory", "150MB", "--inducing", "5"};
  const Arguments without_room = {":",
                                  "-n",
                                  "1",
                                  "-x",
                                  std::string("LD_PRELOAD=") + FaultsLibrary(),
                                  "-x",
                                  "FATHOM_FAULT=full 65536",
                                  ProgramPath()};
  const Outcome outcome = RunRanks(1, Join(Join(fit, without_room), fit));
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  std::vector<std::string> lines = OurLines(outcome);
  std::erase_if(lines, [](const std::string& line) { return line.starts_with("fathom: note"); });
  ASSERT_EQ(lines.size(), 1U) << outcome.err;
  EXPECT_TRUE(lines[0].starts_with("fathom: rank 1 on ")) << lines[0];
  EXPECT_NE(lines[0].find("cannot write the rows of this rank: No space left on device"),
            std::string::npos)
      << lines[0];
  EXPECT_EQ(TestFolder::Read(checkpoint), "of an earlier training");
  EXPECT_FALSE(fs::exists(model_));
}

TEST_F(RanksCli, AStackToo) {
  std::ofstream(train_) << TableOf(Kind::kNumbers, 150);
  const Arguments fit =
      Fit(model_, {"--stack", "always", "--steps", "6", "--hidden", "2", "--threads", "1"});
  Good(fit);
  const std::string alone = Bytes(model_);
  fs::remove(model_);
  GoodRanks(3, fit);
  EXPECT_TRUE(Bytes(model_) == alone);
}

TEST_F(RanksCli, PredictionsComeInTheOrderOfTheFile) {
  for (const Kind kind : {Kind::kNumbers, Kind::kClasses}) {
    std::ofstream(train_) << TableOf(kind, 101);
    Good(Fit(model_, {"--steps", "3"}));
    for (const Arguments& more : {Arguments{},
                                  {"--chunk", "7", "--keep", "a"},
                                  {"--chunk", "40", "--json", "--samples", "5"}}) {
      const Arguments predict = Join({"predict", model_, train_}, more);
      const std::string alone = Good(predict);
      EXPECT_TRUE(GoodRanks(3, predict) == alone);
    }
  }
}

TEST_F(RanksCli, ScoresHaveTheSameBits) {
  for (const Kind kind : {Kind::kNumbers, Kind::kClasses, Kind::kMissing}) {
    std::ofstream(train_) << TableOf(kind, 101);
    Arguments fit = Fit(model_, {"--steps", "3"});
    if (kind == Kind::kMissing) fit = Join(fit, {"--target", "b"});  // two targets
    Good(fit);
    for (const Arguments& more : {Arguments{"--chunk", "7"}, {"--memory", "150MB"}}) {
      const Arguments evaluate = Join({"evaluate", model_, train_, "--json"}, more);
      EXPECT_EQ(GoodRanks(3, evaluate), Good(evaluate));
    }
  }
}

TEST_F(RanksCli, AStudyGivesTheSameScoresAndTheFirstRankWritesThem) {
  fs::create_directories(File("data/one"));
  std::ofstream(File("data/one/data.csv")) << Csv(50, 3);
  std::ofstream(File("data/one/test_indices.txt")) << "0 5 7\n1 2 3 4\n10 20 30\n";
  std::ofstream(File("study.toml")) << "datasets = [\"one\"]\n"
                                       "[gp]\nhidden = 0\ninducing = 8\nsteps = 9\n"
                                       "[dgp]\nhidden = 1\ninducing = 8\nsteps = 9\n";
  const auto bench = [&](const std::string& out) {
    return Arguments{"bench", File("study.toml"), "--data",    File("data"),
                     "--out", File(out),          "--threads", "1"};
  };
  const auto scores = [&](const std::string& out) {
    std::map<UnitKey, UnitOutcome> outcomes;
    for (const UnitRecord& record : ReadResults(File(out))) {
      outcomes[record.key()] = record.outcome;
      outcomes[record.key()].fit_seconds = 0;
      EXPECT_FALSE(record.failed());
      EXPECT_FALSE(record.machine.empty());
    }
    return outcomes;
  };
  Good(bench("alone"));
  const std::string said = GoodRanks(3, bench("ranks"));
  EXPECT_NE(said.find("6 of 6 units are done, 0 failed"), std::string::npos) << said;
  EXPECT_EQ(scores("ranks").size(), 6U);
  EXPECT_EQ(scores("ranks"), scores("alone"));
  // Started again, on another number of ranks, there is nothing to do.
  EXPECT_EQ(CountLines(GoodRanks(2, bench("ranks"))), 1U);
}

TEST_F(RanksCli, CrossValidationToo) {
  std::ofstream(train_) << TableOf(Kind::kNumbers, 90);
  const Arguments cv = {"cv",      train_, "--target",   "y", "--ignore", "w", "--stack", "never",
                        "--steps", "5",    "--inducing", "5", "--folds",  "3", "--json"};
  EXPECT_EQ(GoodRanks(2, cv), Good(cv));
}

TEST_F(RanksCli, OnlyTheFirstRankPrints) {
  std::ofstream(train_) << TableOf(Kind::kNumbers, 60);
  const std::string out = GoodRanks(3, Fit(model_, {"--steps", "3"}));
  EXPECT_EQ(out.find("rows "), out.rfind("rows ")) << out;
}

TEST_F(RanksCli, ABadRowEndsAllWithOneLine) {
  for (const std::string& rows : {TableOf(Kind::kNumbers, 60), TableOfMegabytes()}) {
    std::ofstream(train_) << rows << "1,2,3\n";
    const Outcome alone = Run(Fit(model_));
    const Outcome outcome = RunRanks(3, Fit(model_));
    EXPECT_EQ(outcome.code, 2);
    ASSERT_EQ(OurLines(outcome).size(), 1U) << outcome.err;
    EXPECT_EQ(OurLines(outcome)[0] + "\n", alone.err);
    EXPECT_NE(alone.err.find("train.csv: line "), std::string::npos) << alone.err;
  }
}

TEST_F(RanksCli, EpIsRefusedWithAReason) {
  std::ofstream(train_) << TableOf(Kind::kNumbers, 60);
  const Outcome outcome = RunRanks(2, Fit(model_, {"--inference", "sep", "--steps", "3"}));
  EXPECT_EQ(outcome.code, 2);
  ASSERT_EQ(OurLines(outcome).size(), 1U) << outcome.err;
  EXPECT_NE(OurLines(outcome)[0].find("train on one rank"), std::string::npos) << outcome.err;
}

TEST_F(RanksCli, AStopSavesAndAnotherNumberOfRanksGoesOnToTheSameBits) {
  // mpirun kills ranks that have not ended after a second, which is short on a busy machine.
  const char* const kPatience = "OMPI_MCA_odls_base_sigkill_timeout";
  ::setenv(kPatience, "3", 1);
  std::ofstream(train_) << TableOf(Kind::kNumbers, 400);
  const std::string whole = Whole();
  for (const int signal : {SIGINT, SIGTERM}) {
    const pid_t mpirun = StartRanks(2, LongFit(model_));
    WaitForLines(File("log"), 3, mpirun);
    SignalRanks(mpirun, signal);
    const Outcome outcome = End(mpirun);
    EXPECT_NE(outcome.code, 0);
    ASSERT_EQ(OurLines(outcome).size(), 1U) << outcome.err;
    EXPECT_NE(OurLines(outcome)[0].find("interrupted after step"), std::string::npos);
    EXPECT_TRUE(fs::exists(model_));
    GoodRanks(3, {"resume", model_, "--threads", "1"});
    EXPECT_TRUE(Bytes(model_) == whole);
    fs::remove(model_);
    fs::remove(File("log"));
  }
  ::unsetenv(kPatience);
}

// FATHOM_KILLS=20 tries more often.
TEST_F(RanksCli, AKilledRankEndsAllAndLeavesAWholeCheckpoint) {
  std::ofstream(train_) << TableOf(Kind::kNumbers, 400);
  const std::string whole = Whole();
  const char* asked = std::getenv("FATHOM_KILLS");
  const int kills = asked != nullptr ? std::atoi(asked) : 2;
  RandomStream stream(6);
  for (int i = 0; i < kills; ++i) {
    constexpr int kRanks = 3;
    const pid_t mpirun = StartRanks(kRanks, LongFit(model_));
    WaitForLines(File("log"), static_cast<std::size_t>(3 + stream.Below(300)), mpirun);
    while (!fs::exists(model_ + ".checkpoint") && ::kill(mpirun, 0) == 0) ::poll(nullptr, 0, 5);
    const std::vector<pid_t> processes = RankProcesses(mpirun);
    ASSERT_EQ(processes.size(), static_cast<std::size_t>(kRanks));
    ::kill(processes[stream.Below(kRanks)], SIGKILL);
    const Outcome outcome = End(mpirun);
    EXPECT_EQ(outcome.code, 3);
    ASSERT_EQ(OurLines(outcome).size(), 1U) << outcome.err;
    EXPECT_NE(OurLines(outcome)[0].find("was ended by signal 9"), std::string::npos);
    EXPECT_NE(OurLines(outcome)[0].find("fathom: rank "), std::string::npos);
    EXPECT_FALSE(fs::exists(model_));
    ASSERT_NO_THROW(LoadCheckpoint(model_ + ".checkpoint"));
    if (i % 2 == 0) {
      GoodRanks(2, {"resume", model_, "--threads", "1"});
    } else {
      Good({"resume", model_, "--threads", "1"});
    }
    EXPECT_TRUE(Bytes(model_) == whole);
    fs::remove(model_);
    fs::remove(File("log"));
  }
}

}  // namespace
}  // namespace fathom
