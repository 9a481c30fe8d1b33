// Starts the built program as a user would.
#ifndef FATHOM_TESTS_SUPPORT_PROGRAM_H_
#define FATHOM_TESTS_SUPPORT_PROGRAM_H_

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace fathom {

using Arguments = std::vector<std::string>;

inline Arguments Join(Arguments first, const Arguments& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

struct StartOptions {
  int in = 0, out = 1, err = 2;  // descriptors that become the standard streams
  rlim_t file_size = RLIM_INFINITY;
};

inline pid_t Start(const Arguments& arguments, const StartOptions& options) {
  std::vector<char*> argv = {const_cast<char*>(FATHOM_PROGRAM)};
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
    ::execv(FATHOM_PROGRAM, argv.data());
    ::_exit(127);
  }
  return child;
}

// Of the exit, or 1000 + the signal that ended the program.
inline int ExitCode(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_PROGRAM_H_
