// Runs the built program under mpirun, if there is one.
#ifndef FATHOM_TESTS_SUPPORT_MPI_PROGRAM_H_
#define FATHOM_TESTS_SUPPORT_MPI_PROGRAM_H_

#include <poll.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "fathom/fitted/predictor.h"
#include "tests/support/changed_model.h"
#include "tests/support/places.h"
#include "tests/support/program.h"

namespace fathom {

class RanksTest : public ProgramTest {
 protected:
  void SetUp() override { SkipWithoutMpi(); }

  void SkipWithoutMpi() {
    for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                             "OMPI_MCA_rmaps_base_oversubscribe"})
      ::setenv(name, "1", 1);
    static const Outcome outcome = RunRanks(2, {"--version"});  // once for all tests
    if (outcome.code == 127) GTEST_SKIP() << "skipped: there is no mpirun in the path";
    if (outcome.err.find("has no MPI") != std::string::npos)
      GTEST_SKIP() << "skipped: this build has no MPI";
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }

  // mpirun -n ranks fathom ..., with everything it prints in the files "stdout" and "stderr".
  pid_t StartRanks(int ranks, const Arguments& arguments) const {
    Arguments all = Join({"mpirun", "--oversubscribe", "--bind-to", "none", "-n",
                          std::to_string(ranks), ProgramPath()},
                         arguments);
    std::vector<char*> argv;
    for (std::string& word : all) argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t child = ::fork();
    if (child != 0) return child;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
    const int in = ::open("/dev/null", O_RDONLY);
    const int out = ::open(File("stdout").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int err = ::open(File("stderr").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(in, 0);
    ::dup2(out, 1);
    ::dup2(err, 2);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }

  Outcome End(pid_t mpirun) const {
    Outcome outcome;
    outcome.code = ExitCode(mpirun);
    outcome.out = TestFolder::Read(File("stdout"));
    outcome.err = TestFolder::Read(File("stderr"));
    return outcome;
  }
  Outcome RunRanks(int ranks, const Arguments& arguments) const {
    return End(StartRanks(ranks, arguments));
  }
  std::string GoodRanks(int ranks, const Arguments& arguments) const {
    const Outcome outcome = RunRanks(ranks, arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return outcome.out;
  }

  // The lines on standard error that are ours: mpirun adds its own about every failure.
  static std::vector<std::string> OurLines(const Outcome& outcome) {
    std::vector<std::string> lines;
    std::istringstream text(outcome.err);
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with("fathom: ")) lines.push_back(line);
    }
    return lines;
  }

  static std::vector<pid_t> Children(pid_t parent) {
    const std::string id = std::to_string(parent);
    std::ifstream list("/proc/" + id + "/task/" + id + "/children");
    std::vector<pid_t> children;
    for (pid_t child = 0; list >> child;) children.push_back(child);
    return children;
  }
  // The processes of the ranks, which stand behind those that mpirun has started.
  static std::vector<pid_t> RankProcesses(pid_t mpirun) {
    std::vector<pid_t> ranks;
    for (const pid_t supervisor : Children(mpirun)) {
      for (const pid_t rank : Children(supervisor)) ranks.push_back(rank);
    }
    return ranks;
  }

  static bool IsPending(pid_t process, int signal) {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("ShdPnd:"))
        return ((std::stoull(line.substr(7), nullptr, 16) >> (signal - 1)) & 1) != 0;
    }
    return true;  // the process has ended
  }

  // Signals mpirun, which passes it on after a second, to one rank after the other. They stand
  // still until the first has it, so that the training does not end before.
  static void SignalRanks(pid_t mpirun, int signal) {
    const std::vector<pid_t> ranks = RankProcesses(mpirun);
    for (const pid_t rank : ranks) ::kill(rank, SIGSTOP);
    ::kill(mpirun, signal);
    while (std::ranges::none_of(
        ranks, [&](pid_t rank) { return IsPending(rank, signal) || IsPending(rank, SIGTERM); })) {
      ::poll(nullptr, 0, 5);
    }
    for (const pid_t rank : ranks) ::kill(rank, SIGCONT);
  }

  // Waits until so many lines stand in a file, or the process has ended.
  static void WaitForLines(const std::string& path, std::size_t lines, pid_t process) {
    while (CountLines(TestFolder::Read(path)) < lines && ::kill(process, 0) == 0)
      ::poll(nullptr, 0, 5);
  }

  // What a model's file holds but for the time that its training took.
  std::string Bytes(const std::string& path) const {
    SaveModel(WithoutTime(LoadModel(path)), File("timeless"));
    return TestFolder::Read(File("timeless"));
  }
};

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_MPI_PROGRAM_H_
