// Tables that need not fit into memory, through the built program.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "tests/support/mpi_program.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

// Numbers, classes and gaps; categories, rows without a target, and weights.
std::string TableOf(Index rows, bool classes) {
  RandomStream stream(5);
  std::ostringstream out;
  out << "a,b,colour,w,y\n";
  for (Index n = 0; n < rows; ++n) {
    const double a = stream.Normal();
    const double b = stream.Normal();
    const double y = a * b + 0.2 * stream.Normal();
    out << (n % 7 == 0 ? "" : std::to_string(a)) << "," << b << ","
        << (n % 3 == 0   ? "red"
            : n % 3 == 1 ? "blue"
                         : "green")
        << "," << 1 + n % 3 << ",";
    if (n % 50 == 3) {
      out << "\n";
    } else if (classes) {
      out << (y < -0.3 ? "low" : y < 0.3 ? "middle" : "high") << "\n";
    } else {
      out << y << "\n";
    }
  }
  return out.str();
}

// The least memory: whatever the table, it does not fit.
const Arguments kStreamed = {"--memory", "150MB"};

class LargeTables : public RanksTest {
 protected:
  void SetUp() override {}  // most tests run on one rank

  Arguments Fit(const Arguments& more = {}) const {
    return Join({"fit", train_, "--target", "y", "--weights", "w", "-o", model_, "--inducing", "12",
                 "--warm-up", "5", "--batch", "100", "--patience", "0", "--steps", "12"},
                more);
  }
  // The model that these arguments make; with a note on how.
  std::string ModelOf(const Arguments& arguments) const {
    fs::remove(model_);
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const bool streamed = outcome.err.find("packed copy") != std::string::npos;
    EXPECT_EQ(streamed, arguments.end()[-1] == kStreamed.back()) << outcome.err;
    return Bytes(model_);
  }
  // Exit 2; the last line says why. Notes on the table may stand before it.
  void Refused(const Arguments& arguments, const std::string& why) const {
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    const std::vector<std::string> lines = OurLines(outcome);
    ASSERT_FALSE(lines.empty()) << why;
    EXPECT_NE(lines.back().find(why), std::string::npos) << outcome.err;
  }
  void WriteTable(bool classes, Index rows = 900) const {
    std::ofstream(train_) << TableOf(rows, classes);
  }
};

TEST_F(LargeTables, GiveTheModelThatTheyGiveInMemory) {
  for (const bool classes : {false, true}) {
    WriteTable(classes);
    for (const Arguments& more : {Arguments{}, {"--whiten", "always", "--batch", "2000"}}) {
      const std::string alone = ModelOf(Fit(more));
      EXPECT_TRUE(ModelOf(Fit(Join(more, kStreamed))) == alone);
      EXPECT_TRUE(ModelOf(Fit(Join(more, {"--memory", "1GB"}))) == alone);
    }
  }
}

TEST_F(LargeTables, GiveItOnSeveralRanksToo) {
  SkipWithoutMpi();
  if (IsSkipped()) return;
  WriteTable(false);
  const std::string alone = ModelOf(Fit());
  fs::remove(model_);
  EXPECT_EQ(RunRanks(3, Fit(kStreamed)).code, 0);
  EXPECT_TRUE(Bytes(model_) == alone);
}

TEST_F(LargeTables, AnEnsembleThatFitsIsTheSameOne) {
  WriteTable(false, 120);
  const Arguments fit = Fit({"--stack", "always", "--steps", "4", "--hidden", "2"});
  const std::string alone = ModelOf(fit);
  EXPECT_TRUE(ModelOf(Join(fit, {"--memory", "1GB"})) == alone);
  Refused(Join(fit, kStreamed), "an ensemble needs all rows in memory");
}

TEST_F(LargeTables, ATrainingGoesOnInMemoryOrNot) {
  WriteTable(false);
  const Arguments fit =
      Fit({"--steps", "3000", "--checkpoint-every", "0.01s", "--log", File("log")});
  const std::string whole = ModelOf(fit);
  for (const bool streamed_first : {true, false}) {
    fs::remove(File("log"));
    fs::remove(model_);
    const int null = ::open("/dev/null", O_WRONLY);
    const pid_t child =
        StartProgram(streamed_first ? Join(fit, kStreamed) : fit, {.out = null, .err = null});
    ::close(null);
    while (!fs::exists(model_ + ".checkpoint") && ::waitpid(child, nullptr, WNOHANG) == 0) {
    }
    ::kill(child, SIGTERM);
    ASSERT_EQ(ExitCode(child), 143);
    const Arguments resume = {"resume", model_, "--log", File("log")};
    const Outcome outcome = Run(streamed_first ? resume : Join(resume, kStreamed));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(Bytes(model_) == whole);
  }
}

TEST_F(LargeTables, PredictionsAndScoresAreThoseInMemory) {
  for (const bool classes : {false, true}) {
    WriteTable(classes);
    ModelOf(Fit());
    // A category that the training has not seen, and rows beyond it.
    std::ofstream(train_, std::ios::app) << "50,-60,violet,1," << (classes ? "low" : "3") << "\n";
    for (const Arguments& command : {Arguments{"predict", model_, train_},
                                     {"predict", model_, train_, "--json"},
                                     {"evaluate", model_, train_, "--json"}}) {
      const Outcome here = Run(command);
      const Outcome there = Run(Join(command, kStreamed));
      EXPECT_EQ(here.code, 0) << here.err;
      EXPECT_EQ(there.code, 0) << there.err;
      EXPECT_EQ(there.out, here.out);
      EXPECT_EQ(there.err, here.err);
    }
  }
}

TEST_F(LargeTables, AKeptCopyIsUsedUntilTheTableChanges) {
  WriteTable(false);
  const Arguments keep = {"--packed", File("kept"), "--memory", "150MB"};
  const std::string first = ModelOf(Fit(keep));
  const auto written = fs::last_write_time(File("kept"));
  EXPECT_TRUE(ModelOf(Fit(keep)) == first);
  EXPECT_EQ(fs::last_write_time(File("kept")), written);
  std::ofstream(train_, std::ios::app) << "1,2,red,1,3\n";
  EXPECT_FALSE(ModelOf(Fit(keep)) == first);
  std::string bytes = TestFolder::Read(File("kept"));
  bytes[bytes.size() / 2] ^= 1;
  std::ofstream(File("kept"), std::ios::binary) << bytes;
  const Outcome damaged = Run(Fit(keep));
  EXPECT_EQ(damaged.code, 2);
  EXPECT_EQ(damaged.err,
            "fathom: " + File("kept") + ": is damaged; delete it, and it is made anew\n");
}

TEST_F(LargeTables, AFullDiskEndsWithOneLine) {
  WriteTable(false, 3000);
  const int err = ::open(File("stderr").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const Arguments keep = {"--packed", File("kept"), "--memory", "150MB"};
  const int code = ExitCode(StartProgram(Fit(keep), {.err = err, .file_size = 20'000}));
  ::close(err);
  EXPECT_EQ(code, 2);
  EXPECT_EQ(TestFolder::Read(File("stderr")),
            "fathom: " + fs::path(train_).parent_path().string() +
                ": cannot write the packed copy of " + train_ +
                ": File too large; make room, or name another place\n");
  EXPECT_FALSE(fs::exists(File("kept")));
}

TEST_F(LargeTables, NoPlaceToPackEndsAllRanksWithOneLine) {
  SkipWithoutMpi();
  if (IsSkipped()) return;
  WriteTable(false);
  const Outcome outcome = RunRanks(2, Fit(Join({"--packed", File("nowhere/kept")}, kStreamed)));
  EXPECT_EQ(outcome.code, 2);
  ASSERT_EQ(OurLines(outcome).size(), 1U) << outcome.err;
  EXPECT_NE(OurLines(outcome)[0].find("nowhere: cannot write the packed copy of "),
            std::string::npos)
      << outcome.err;
}

TEST_F(LargeTables, StandardInputAndGzipGoThroughTheDisk) {
  WriteTable(false);
  const std::string text = TestFolder::Read(train_);
  Arguments fit = Fit(kStreamed);
  fit[1] = "-";
  EXPECT_EQ(Run(fit, text).code, 0);
  const auto predictions = [&](const std::string& table) {
    return Run({"predict", model_, table}).out;
  };
  const std::string expected = predictions(train_);
  ASSERT_EQ(std::system(("gzip -k " + train_).c_str()), 0);
  fit[1] = train_ + ".gz";
  EXPECT_EQ(Run(fit).code, 0);
  EXPECT_EQ(predictions(train_), expected);
  EXPECT_EQ(Run({"predict", model_, train_ + ".gz", "--memory", "150MB"}).out, expected);
}

// The most memory that a command has had, in bytes.
double PeakOf(const Arguments& arguments) {
  const int null = ::open("/dev/null", O_WRONLY);
  const pid_t child = StartProgram(arguments, {.out = null, .err = null});
  rusage usage{};
  int status = 0;
  ::wait4(child, &status, 0, &usage);
  ::close(null);
  EXPECT_EQ(status, 0);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

TEST_F(LargeTables, StayWithinTheirMemory) {
  // In memory this would take 300 MB and more.
  RandomStream stream(1);
  const std::string row = [&] {
    std::string text;
    for (int c = 0; c < 20; ++c) text += std::to_string(stream.Normal()) + ",";
    return text;
  }();
  {
    std::ofstream out(train_);
    for (int c = 0; c < 20; ++c) out << "x" << c << ",";
    out << "y\n";
    for (int n = 0; n < 400'000; ++n)
      out << n % 1000 << row.substr(row.find(',')) << n % 77 << "\n";
  }
  const Arguments fit = {"fit",        train_, "--target", "y", "-o",        model_,
                         "--inducing", "12",   "--steps",  "5", "--threads", "2"};
  EXPECT_LT(PeakOf(Join(fit, kStreamed)), 150e6);
  for (const char* command : {"predict", "evaluate"})
    EXPECT_LT(PeakOf(Join({command, model_, train_, "--threads", "2"}, kStreamed)), 150e6);
}

TEST_F(LargeTables, OptionsThatDoNotGoTogetherAreTold) {
  WriteTable(false);
  Refused(Fit({"--memory", "2"}), "'2' is no amount of memory; write 500MB or 2GB");
  Refused(Fit({"--memory", "1MB"}),
          "1MB is too little for the program alone; give at least 150 MB");
  Refused(Fit({"--packed", File("kept")}), "--packed: goes with --memory");
  Refused(Fit(Join({"--packed", train_}, kStreamed)), "train.csv");
  Refused(Fit(Join({"--inference", "ep"}, kStreamed)), "need all rows in memory");
  Refused(Fit(Join({"--warp", "always"}, kStreamed)), "sorts whole columns");
  Refused(Fit(Join({"--input-std", train_}, kStreamed)), "must fit into memory");
  ModelOf(Fit());
  Refused(Join({"predict", model_, train_, "--keep", "a"}, kStreamed), "--keep columns must fit");
}

TEST_F(LargeTables, PartsAreOneTable) {
  WriteTable(false);
  const std::string text = TestFolder::Read(train_);
  const std::size_t header = text.find('\n') + 1;
  const std::size_t cut = text.find('\n', text.size() / 3) + 1;
  std::ofstream(File("part-1.csv")) << text.substr(0, cut);
  std::ofstream(File("part-2.csv")) << text.substr(0, header) << text.substr(cut);
  const auto predictions = [&](const std::string& table, const Arguments& more) {
    Arguments fit = Fit(more);
    fit[1] = table;
    const Outcome outcome = Run(fit);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Run({"predict", model_, table}).out;
  };
  const std::string whole = predictions(train_, {});
  EXPECT_EQ(predictions(File("part-*.csv"), {}), whole);
  EXPECT_EQ(predictions(File("part-*.csv"), kStreamed), whole);
  Arguments over = Fit();
  over[1] = File("part-*.csv");
  *(std::find(over.begin(), over.end(), "-o") + 1) = File("part-2.csv");
  Refused(over, "would be overwritten");
}

}  // namespace
}  // namespace fathom
