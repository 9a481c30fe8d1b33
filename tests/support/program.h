// Runs the built program as a user would; a folder, two tables and a place for a model.
#ifndef FATHOM_TESTS_SUPPORT_PROGRAM_H_
#define FATHOM_TESTS_SUPPORT_PROGRAM_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <sstream>
#include <string>
#include <vector>

#include "fathom/base/random.h"
#include "tests/support/places.h"
#include "tests/support/test_folder.h"

namespace fathom {

using Arguments = std::vector<std::string>;

inline Arguments Join(Arguments first, const Arguments& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

struct StartOptions {
  int in = 0, out = 1, err = 2;  // descriptors that become the standard streams
  rlim_t file_size = RLIM_INFINITY;
  const char* folder = ".";  // to run in
};

inline pid_t StartProgram(const Arguments& arguments, const StartOptions& options) {
  std::vector<char*> argv = {const_cast<char*>(ProgramPath())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    // Whoever runs the tests in the background may have SIGINT ignored.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
    ::dup2(options.in, 0);
    ::dup2(options.out, 1);
    ::dup2(options.err, 2);
    const rlimit limit{options.file_size, options.file_size};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    if (::chdir(options.folder) != 0) ::_exit(126);
    ::execv(ProgramPath(), argv.data());
    ::_exit(127);
  }
  return child;
}

// Returns the code of the exit, or 1000 + the signal that ended the program.
inline int ExitCode(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

struct Outcome {
  int code = -1;  // as ExitCode gives it
  std::string out, err;
};

inline std::size_t CountLines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// y = a b + noise, with a column that means nothing and one that follows another.
inline std::string Csv(Index rows, std::uint64_t seed) {
  RandomStream stream(seed);
  std::ostringstream out;
  out << "a,b,c,d,y\n";
  for (Index n = 0; n < rows; ++n) {
    const double a = stream.Normal();
    const double b = 100 + 5 * stream.Normal();
    const double y = a * (b - 100) + 0.1 * stream.Normal();
    out << a << "," << b << "," << stream.Normal() << "," << b + stream.Normal() << "," << y
        << "\n";
  }
  return out.str();
}

class ProgramTest : public testing::Test {
 protected:
  std::string File(const std::string& name) const { return folder_.Path(name); }

  Outcome Run(const Arguments& arguments, const std::string& input = "") const {
    folder_.Write("stdin", input);
    const int in = ::open(File("stdin").c_str(), O_RDONLY);
    const int out = ::open(File("stdout").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int err = ::open(File("stderr").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    Outcome outcome;
    outcome.code = ExitCode(StartProgram(arguments, {in, out, err}));
    for (const int descriptor : {in, out, err}) ::close(descriptor);
    outcome.out = TestFolder::Read(File("stdout"));
    outcome.err = TestFolder::Read(File("stderr"));
    return outcome;
  }
  // Runs and expects success; what was printed.
  std::string Good(const Arguments& arguments, const std::string& input = "") const {
    const Outcome outcome = Run(arguments, input);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    // Tables drawn at random may have rows beyond those of the training, which `predict` tells.
    const bool told = outcome.err.starts_with("fathom: note: ") &&
                      outcome.err.find("beyond the training rows") != std::string::npos &&
                      CountLines(outcome.err) == 1;
    EXPECT_TRUE(told || outcome.err.empty()) << outcome.err;
    return outcome.out;
  }
  // Runs and expects exit 2 with one line that holds `word`.
  void Bad(const Arguments& arguments, const std::string& word) const {
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.code, 2) << word;
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(outcome.err.starts_with("fathom: ")) << outcome.err;
    EXPECT_EQ(CountLines(outcome.err), 1U) << outcome.err;
    EXPECT_NE(outcome.err.find(word), std::string::npos) << outcome.err;
  }

  Arguments FitArguments(const std::string& train, const std::string& model,
                         const Arguments& more = {}) const {
    Arguments arguments = {"fit",     train, "--target",   "y",  "-o",        model,
                           "--steps", "30",  "--inducing", "10", "--warm-up", "10"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  TestFolder folder_;
  const std::string train_ = folder_.Write("train.csv", Csv(80, 1));
  const std::string test_ = folder_.Write("test.csv", Csv(50, 2));
  const std::string model_ = folder_.Path("model.fathom");
};

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_PROGRAM_H_
