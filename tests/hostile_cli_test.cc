// Hostile files and a hostile system: the program ends, with one line that says why.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/places.h"
#include "tests/support/program.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

class Hostile : public ProgramTest {
 protected:
  void ExpectOneLine(const Outcome& outcome, const std::string& word) const {
    EXPECT_EQ(CountLines(outcome.err), 1U) << outcome.err;
    EXPECT_NE(outcome.err.find(word), std::string::npos) << outcome.err;
  }
};

TEST_F(Hostile, AFlippedBitOfAModelOrACheckpointIsRefused) {
  ASSERT_EQ(Run(FitArguments(train_, model_)).code, 0);
  const std::string bytes = TestFolder::Read(model_);
  RandomStream stream(5);
  for (int round = 0; round < 40; ++round) {
    std::string changed = bytes;
    const auto at = static_cast<std::size_t>(stream.Below(static_cast<Index>(bytes.size())));
    changed[at] = static_cast<char>(changed[at] ^ 1 << stream.Below(8));
    folder_.Write("changed.fathom", changed);
    const Outcome outcome = Run({"predict", File("changed.fathom"), test_});
    EXPECT_EQ(outcome.code, 2) << "byte " << at;
    ExpectOneLine(outcome, "changed.fathom");
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(Hostile, ALackOfMemoryIsTold) {
  ASSERT_EQ(Run(FitArguments(train_, model_)).code, 0);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  const rlimit little{.rlim_cur = 100'000'000, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &little), 0);
  const std::vector<Arguments> commands = {
      {"predict", model_, test_, "--threads", "1"},
      {"evaluate", model_, test_, "--threads", "1"},
      {"report", model_, test_, "-o", "-", "--threads", "1"},
      {"inspect", model_},
      {"export", model_, "--format", "c"},
      {"cv", train_, "--target", "y", "--threads", "1"},
      FitArguments(train_, File("new.fathom"), {"--threads", "1"})};
  std::vector<Outcome> outcomes;
  for (const Arguments& command : commands) outcomes.push_back(Run(command));
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  for (std::size_t c = 0; c < commands.size(); ++c) {
    SCOPED_TRACE(commands[c].front());
    EXPECT_EQ(outcomes[c].code, 1);
    ExpectOneLine(outcomes[c], "not enough memory");
  }
}
#endif

// The scores of a count far from what is predicted cost no more than those of a near one, and a
// value that no model can foresee has a score.
TEST_F(Hostile, TargetsOfAnySizeAreScored) {
  std::string counts = "x,y\n";
  for (int n = 0; n < 30; ++n) counts += std::to_string(n) + "," + std::to_string(n * 7 % 5) + "\n";
  const std::string table = folder_.Write("counts.csv", counts);
  const std::string far = folder_.Write("far.csv", "x,y\n3,1000000000\n4,2\n");
  const Arguments small = {"--hidden", "0", "--inducing", "3", "--steps", "5"};
  for (const char* likelihood : {"poisson", "student_t", "heteroscedastic"}) {
    Good(Join({"fit", table, "--target", "y", "-o", model_, "--likelihood", likelihood}, small));
    EXPECT_EQ(Good({"evaluate", model_, far}).find("nan"), std::string::npos) << likelihood;
  }
  const std::string huge = folder_.Write("huge.csv", "x,y\n3,1e300\n4,2\n");
  const Outcome outcome = Run({"evaluate", model_, huge, "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find("nan"), std::string::npos) << outcome.out;
}

TEST_F(Hostile, AClosedStandardOutputTakesNoOtherFile) {
  const int in = ::open("/dev/null", O_RDONLY);
  const int err = ::open(File("stderr").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(in, 0);
    ::close(1);
    ::dup2(err, 2);
    ::execl(ProgramPath(), ProgramPath(), "fit", train_.c_str(), "--target", "y", "-o",
            model_.c_str(), "--steps", "2", "--hidden", "0", "--inducing", "3", "--log",
            File("log.jsonl").c_str(), nullptr);
    ::_exit(127);
  }
  EXPECT_EQ(ExitCode(child), 2);
  EXPECT_NE(TestFolder::Read(File("stderr")).find("standard output"), std::string::npos);
  std::istringstream log(TestFolder::Read(File("log.jsonl")));
  for (std::string line; std::getline(log, line);) EXPECT_TRUE(Json::accept(line)) << line;
  EXPECT_TRUE(std::filesystem::exists(model_));
}

TEST_F(Hostile, ResultsOfAnyShapeAreRefusedOrShown) {
  const auto tables = [&](const std::string& lines) {
    std::filesystem::create_directories(File("r"));
    folder_.Write("r/results.jsonl", lines);
    return Run({"tables", File("r")});
  };
  for (const std::string& line :
       {std::string(200'000, '['), std::string(200'000, '{'),
        R"({"dataset":"d","split":0,"method":"m","scores":)" + std::string(100'000, '[') + "}",
        std::string(R"({"dataset":"d","split":0,"method":"m","scores":{"rmse":"x"}})")}) {
    const Outcome outcome = tables(line + "\n");
    EXPECT_EQ(outcome.code, 2);
    ExpectOneLine(outcome, "line 1");
  }
  const std::string start = R"({"dataset":"d","split":)", scores = R"(,"scores":{"rmse":1})";
  const Outcome mixed = tables(start + R"(0,"method":"m")" + scores + R"(,"settings":{}})" + "\n" +
                               start + R"(1,"method":"m")" + scores + R"(,"settings":5})" + "\n");
  EXPECT_EQ(mixed.code, 0) << mixed.err;
  const Outcome names = tables(start + R"(0,"method":"a|b<script>\u001b[2J")" + scores + "}\n");
  EXPECT_EQ(names.code, 0) << names.err;
  EXPECT_NE(names.out.find("a\\|b&lt;script>?[2J"), std::string::npos) << names.out;
}

TEST_F(Hostile, LongHeadersAndSettingsTakeLinearTime) {
  // Quadratic algorithms would take minutes here, and the test would be ended.
  const std::string quotes = "\"" + std::string(8'000'000, '"') + "\",y\n1,2\n3,4\n";
  EXPECT_LT(Run({"inspect", folder_.Write("q.csv", quotes)}).code, 3);
  std::string keys;
  for (int k = 0; k < 200'000; ++k) keys += "k" + std::to_string(k) + " = 1\n";
  Bad({"fit", train_, "--target", "y", "-o", model_, "--config", folder_.Write("c.toml", keys)},
      "'k0'");
}

TEST_F(Hostile, TextOfTargetsAndCellsReachesNoTerminal) {
  const std::string table = folder_.Write("t.csv", "a\x1b[2J,y\u202e\n1,2\n3,4\n");
  const Outcome outcome = Run({"inspect", table});
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(outcome.out.find("\u202e"), std::string::npos);
}

TEST_F(Hostile, AnInterruptedTrainingIsNotThrownAway) {
  folder_.Write("model.fathom.checkpoint", "worth hours");
  const Outcome outcome = Run(FitArguments(train_, model_));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.err.find("model.fathom.checkpoint.old"), std::string::npos) << outcome.err;
  EXPECT_EQ(TestFolder::Read(File("model.fathom.checkpoint.old")), "worth hours");
}

TEST_F(Hostile, SmallThings) {
  EXPECT_NE(Good({"-v"}).find("fathom "), std::string::npos);
  Bad({"--verbose", "fit"}, "before the command there is no option '--verbose'");
  Bad(FitArguments(train_, model_, {"--log", File("no/such/log")}), "make its folder first");
  // A budget that is over before a network has learnt anything.
  const Outcome hurried = Run({"fit", train_, "--target", "y", "-o", model_, "--time-budget",
                               "0.000001s", "--stack", "never", "--patience", "0"});
  EXPECT_EQ(hurried.code, 0) << hurried.err;
  EXPECT_NE(hurried.err.find("--time-budget was too short"), std::string::npos) << hurried.err;
}

// Scores of several targets are never pooled over their units.
TEST_F(Hostile, EveryTargetHasScoresOfItsOwn) {
  const Arguments small = {"--hidden", "0", "--inducing", "3", "--steps", "5"};
  Good(Join({"fit", train_, "--target", "y,a", "-o", model_}, small));
  const Json scores = Json::parse(Good({"evaluate", model_, test_, "--json"}));
  ASSERT_TRUE(scores.contains("targets")) << scores.dump();
  const std::string said = Good({"evaluate", model_, test_});
  for (const char* target : {"'y'", "'a'"}) EXPECT_NE(said.find(target), std::string::npos) << said;
}

}  // namespace
}  // namespace fathom
