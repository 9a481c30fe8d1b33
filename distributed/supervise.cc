#include "distributed/supervise.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>

#include "distributed/mpi.h"

namespace fathom {

namespace {

volatile pid_t rank_process = 0;

void PassOn(int signal) {
  if (rank_process > 0) ::kill(rank_process, signal);
}

std::string HostName() {
  char host[256] = {};
  ::gethostname(host, sizeof(host) - 1);
  return host;
}

void SayHowItEnded(int signal) {
  const char* hint = signal == SIGKILL ? "; perhaps its memory ran out" : "";
  const std::string line =
      "fathom: rank " + std::to_string(RankByLauncher()) + " on " + HostName() +
      ": was ended by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + hint +
      "); all ranks end, and 'fathom resume' goes on from the last checkpoint\n";
  static_cast<void>(::write(STDERR_FILENO, line.data(), line.size()) < 0);
}

}  // namespace

void Supervise(int exit_code) {
  if (!StartedAsOneOfSeveral()) return;
  const pid_t parent = ::getpid();
  // A signal that comes before there is anyone to pass it on to must not be lost.
  sigset_t all, before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, &before);
  const pid_t child = ::fork();
  if (child < 0) {  // no second process: then without
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return;
  }
  if (child == 0) {
    // Launchers signal whole groups; out of ours, each signal comes once, from the parent.
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(exit_code);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return;
  }
  rank_process = child;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) ::signal(signal, PassOn);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  rank_process = 0;
  if (WIFEXITED(status)) std::_Exit(WEXITSTATUS(status));
  SayHowItEnded(WTERMSIG(status));
  std::_Exit(exit_code);
}

}  // namespace fathom
