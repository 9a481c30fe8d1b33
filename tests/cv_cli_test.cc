// 'fathom cv', run as a user would.
#include <poll.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fathom/data/read_table.h"
#include "tests/support/program.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

class Cv : public ProgramTest {
 protected:
  std::string Run(const Arguments& more) const {
    return Good(Join({"cv", train_, "--target", "y", "--steps", "20", "--inducing", "8", "--hidden",
                      "1", "--warm-up", "5"},
                     more));
  }
};

TEST_F(Cv, MeansAndErrorsAreThoseOfTheFolds) {
  const std::string text = Run({"--json", "--folds", "4", "-o", File("out.csv")});
  const Json json = Json::parse(text);
  ASSERT_EQ(json["folds"].size(), 4U);
  EXPECT_EQ(json["rows"], 80);
  double sum = 0;
  double squares = 0;
  for (const Json& fold : json["folds"]) {
    sum += fold["rmse"].get<double>() / 4;
    EXPECT_EQ(fold["rows"], 20);
  }
  for (const Json& fold : json["folds"]) squares += std::pow(fold["rmse"].get<double>() - sum, 2);
  EXPECT_NEAR(json["mean"]["rmse"], sum, 1e-12);
  EXPECT_NEAR(json["standard_error"]["rmse"], std::sqrt(squares / 3 / 4), 1e-12);

  // The same from the predictions that it wrote.
  const Table out = ReadTable(File("out.csv"));
  EXPECT_EQ(out.columns,
            (std::vector<std::string>{"row", "fold", "mean", "std", "target", "q025", "q975"}));
  ASSERT_EQ(out.values.rows(), 80);
  double first = 0;
  for (Index n = 0; n < 80; ++n) {
    if (out.values(n, 1) == 1) first += std::pow(out.values(n, 2) - out.values(n, 4), 2) / 20;
  }
  EXPECT_NEAR(json["folds"][0]["rmse"], std::sqrt(first), 1e-9);
  EXPECT_EQ(Run({"--json", "--folds", "4", "--threads", "1"}), text);
  EXPECT_EQ(Run({"--json", "--folds", "4", "--threads", "7"}), text);
  EXPECT_NE(Run({"--json", "--folds", "4", "--seed", "2"}), text);
}

TEST_F(Cv, ComparesRecipesOnTheSameFolds) {
  const Json json =
      Json::parse(Run({"--json", "--folds", "3", "--compare", "default", "--hidden 0", "linear"}));
  ASSERT_EQ(json["compared"].size(), 3U);
  const auto alone = [&](const Arguments& more) {
    return Json::parse(Run(Join({"--json", "--folds", "3"}, more)));
  };
  EXPECT_EQ(json["compared"][0]["mean"], alone({})["mean"]);
  EXPECT_EQ(json["compared"][1]["recipe"], "--hidden 0");
  EXPECT_EQ(json["compared"][1]["mean"], alone({"--hidden", "0"})["mean"]);
  EXPECT_EQ(json["compared"][2]["mean"], alone({})["linear"]);
  EXPECT_NE(Run({"--folds", "3", "--compare", "linear"}).find("linear"), std::string::npos);
  Bad({"cv", train_, "--target", "y", "--compare", "--hiden 0"}, "--compare: '--hiden 0'");
}

TEST_F(Cv, NeverLearnsFromLaterRows) {
  std::string table = "t,x,y\n";
  for (int n = 0; n < 40; ++n) {
    table +=
        std::to_string((n * 7) % 40) + "," + std::to_string(n % 9) + "," + std::to_string(n) + "\n";
  }
  const std::string path = folder_.Write("t.csv", table);
  const Arguments command = {"cv",       path, "--target", "y", "--steps", "5", "--inducing", "5",
                             "--hidden", "0",  "--order",  "t", "--json"};
  const Json folds = Json::parse(Good(Join(command, {"--folds", "3", "-o", File("out.csv")})));
  EXPECT_EQ(folds["folds"].size(), 3U);
  EXPECT_EQ(folds["rows"], 30) << "the earliest part is only learnt from";
  const Json once = Json::parse(Good(Join(command, {"--test", "0.25"})));
  EXPECT_EQ(once["folds"].size(), 1U);
  EXPECT_EQ(once["rows"], 10);
  Bad({"cv", path, "--target", "y", "--test", "1.5"}, "--test");
}

TEST_F(Cv, GroupsStayTogetherAndGivenFoldsAreTaken) {
  std::istringstream lines(Csv(60, 3));
  std::ostringstream table;
  std::string line;
  for (int n = -1; std::getline(lines, line); ++n)
    table << line << "," << (n < 0 ? "site" : std::to_string(n % 7)) << "\n";
  folder_.Write("train.csv", table.str());
  Run({"--folds", "3", "--group", "site", "-o", File("out.csv")});
  Matrix out = ReadTable(File("out.csv")).values;
  for (Index n = 7; n < 60; ++n) EXPECT_EQ(out(n, 1), out(n - 7, 1)) << n;
  for (const double fold : {1.0, 2.0, 3.0}) EXPECT_GE((out.col(1).array() == fold).count(), 16);

  EXPECT_EQ(
      Json::parse(Run({"--json", "--fold-column", "site", "-o", File("out.csv")}))["folds"].size(),
      7U);
  out = ReadTable(File("out.csv")).values;
  for (Index n = 0; n < 60; ++n) EXPECT_EQ(out(n, 1), static_cast<double>(n % 7 + 1));
  // Strings do as well as numbers, and rows without a target leave the others in their groups.
  std::istringstream again(table.str());
  std::ostringstream named;
  for (int n = -1; std::getline(again, line); ++n) {
    const std::size_t comma = line.rfind(',');
    named << (n == 5 ? "1,2,3,4,," : line.substr(0, comma) + ",") << (n < 0 ? "site" : "s")
          << (n < 0 ? "" : std::to_string(n % 7)) << "\n";
  }
  folder_.Write("train.csv", named.str());
  const Outcome outcome = ProgramTest::Run({"cv", train_, "--target", "y", "--steps", "2",
                                            "--fold-column", "site", "-o", File("out.csv")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  out = ReadTable(File("out.csv")).values;
  ASSERT_EQ(out.rows(), 59);
  for (Index n = 0; n < 59; ++n) {
    const Index row = n < 5 ? n : n + 1;
    EXPECT_EQ(out(n, 0), static_cast<double>(row + 1));
    EXPECT_EQ(out(n, 1), static_cast<double>(row % 7 + 1)) << n;
  }
  EXPECT_NE(outcome.err.find("1 row"), std::string::npos) << outcome.err;
  Bad({"cv", train_, "--target", "y", "--group", "site", "--folds", "8"}, "groups (7)");
  Bad({"cv", train_, "--target", "y", "--group", "nothing"}, "'nothing'");
  Bad({"cv", train_, "--target", "y", "--fold-column", "site", "--folds", "3"}, "--fold");
}

// Whether the process has a handler of its own for the signal.
bool Catches(pid_t process, int signal) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("SigCgt:"))
      return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0;
  }
  return false;
}

TEST_F(Cv, CtrlCEndsItSoonAndSaysThatThereAreNoScores) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const int printed = ::open(File("printed").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const pid_t child = StartProgram({"cv", train_, "--target", "y", "--steps", "100000000",
                                      "--patience", "0", "-o", File("out.csv"), "--json"},
                                     {.out = printed, .err = printed});
    ::close(printed);
    while (!Catches(child, signal)) ::poll(nullptr, 0, 1);
    ::kill(child, signal);
    EXPECT_EQ(ExitCode(child), 128 + signal);
    const std::string text = TestFolder::Read(File("printed"));
    EXPECT_EQ(CountLines(text), 1U) << text;
    EXPECT_NE(text.find("interrupted before all folds were done"), std::string::npos) << text;
    EXPECT_NE(text.find("out.csv is not written"), std::string::npos) << text;
    EXPECT_FALSE(std::filesystem::exists(File("out.csv")));
  }
}

TEST_F(Cv, ProgressIsShownOnATerminal) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_EQ(::grantpt(master), 0);
  ASSERT_EQ(::unlockpt(master), 0);
  const int terminal = ::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  const int out = ::open(File("printed").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const pid_t child =
      StartProgram({"cv", train_, "--target", "y", "--steps", "20", "--inducing", "8"},
                   {.out = out, .err = terminal});
  ::close(terminal);
  ::close(out);
  std::string shown;
  char buffer[1000];
  // Ends when the program does, which has the terminal's only other end.
  for (ssize_t n = 0; (n = ::read(master, buffer, sizeof(buffer))) > 0;)
    shown.append(buffer, static_cast<std::size_t>(n));
  ::close(master);
  EXPECT_EQ(ExitCode(child), 0);
  EXPECT_NE(shown.find("0 of 5 folds done"), std::string::npos) << shown;
  EXPECT_TRUE(shown.ends_with("\r\033[K")) << "the line is gone at the end: " << shown;
  EXPECT_TRUE(TestFolder::Read(File("printed")).starts_with("rmse "));
}

TEST_F(Cv, BadOptions) {
  Bad({"cv", train_, "--target", "y", "--folds", "1"}, "--folds");
  Bad({"cv", train_, "--target", "y", "--folds", "81"}, "rows (80)");
  Bad({"cv", train_}, "--target");
  Bad({"cv", train_, "--target", "y", "-o", train_}, "overwritten");
  Bad({"cv", train_, "--target", "y", "--alpha", "7"}, "alpha");
}

}  // namespace
}  // namespace fathom
