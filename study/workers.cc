#include "study/workers.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "fathom/base/error.h"
#include "fathom/base/option_text.h"
#include "fathom/base/stopwatch.h"
#include "fathom/io/write_all.h"

namespace fathom {

namespace {

constexpr int kPollMilliseconds = 200;

struct Running {
  std::size_t job = 0;
  pid_t process = -1;
  int pipe = -1;  // from which its output comes
  std::string output = {};
  Stopwatch watch = {};
};

[[noreturn]] void RunChild(std::size_t job, pid_t parent, int pipe, const WorkersOptions& options,
                           const WorkersCalls& calls) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_IGN);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(EXIT_FAILURE);  // it died before it could be watched
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (options.cpu_budget > 0) {
    const auto seconds = static_cast<rlim_t>(std::ceil(options.cpu_budget));
    const rlimit limit{seconds, seconds + 1};
    ::setrlimit(RLIMIT_CPU, &limit);
  }
  ::_exit(WriteAll(pipe, calls.run(job)) ? EXIT_SUCCESS : EXIT_FAILURE);
}

Running StartJob(std::size_t job, const WorkersOptions& options, const WorkersCalls& calls) {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) ThrowError("the system refuses a pipe: ", std::strerror(errno));
  const Stopwatch watch;  // here, because the child may be done before the parent goes on
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process < 0)
    ThrowError("the system refuses a process: ", std::strerror(errno), "; run fewer at a time");
  if (process == 0) {
    ::close(ends[0]);
    RunChild(job, parent, ends[1], options, calls);
  }
  ::close(ends[1]);
  return {.job = job, .process = process, .pipe = ends[0], .watch = watch};
}

std::string Death(int status, const WorkersOptions& options) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) return "";
  if (WIFEXITED(status)) return "its process gave up";
  const int signal = WTERMSIG(status);
  if (signal == SIGXCPU) return "out of its budget of " + Short(options.cpu_budget) + " s of CPU";
  const std::string name = std::string("its process was ended by signal ") + std::to_string(signal);
  return signal == SIGKILL ? name + ", perhaps for want of memory" : name;
}

JobEnd FinishJob(Running* running, const WorkersOptions& options) {
  ::close(running->pipe);
  int status = 0;
  rusage usage{};
  while (::wait4(running->process, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  JobEnd end;
  end.death = Death(status, options);
  if (end.death.empty()) end.output = std::move(running->output);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  end.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  end.wall_seconds = running->watch.Seconds();
  end.peak_memory = std::int64_t{1024} * usage.ru_maxrss;
  return end;
}

// Waits until a job says something, or a while; whether the output of one has ended, and whose.
bool NextEnd(std::vector<Running>* running, std::size_t* ended) {
  std::vector<pollfd> polls;
  for (const Running& job : *running) polls.push_back({job.pipe, POLLIN, 0});
  if (::poll(polls.data(), polls.size(), kPollMilliseconds) <= 0) return false;
  for (std::size_t i = 0; i < polls.size(); ++i) {
    if (polls[i].revents == 0) continue;
    char buffer[4096];
    const ssize_t size = ::read(polls[i].fd, buffer, sizeof(buffer));
    if (size > 0) (*running)[i].output.append(buffer, static_cast<std::size_t>(size));
    if (size > 0 || (size < 0 && errno == EINTR)) continue;
    *ended = i;
    return true;
  }
  return false;
}

}  // namespace

void RunInProcesses(std::size_t count, const WorkersOptions& options, const WorkersCalls& calls) {
  std::vector<Running> running;
  std::size_t next = 0;
  bool stops = false;
  while (true) {
    stops = stops || calls.wants_to_stop();
    while (!stops && next < count && running.size() < static_cast<std::size_t>(options.processes)) {
      running.push_back(StartJob(next, options, calls));
      calls.on_start(next++);
    }
    if (running.empty()) return;
    std::size_t ended = 0;
    if (!NextEnd(&running, &ended)) continue;
    const std::size_t job = running[ended].job;
    const JobEnd end = FinishJob(&running[ended], options);
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(ended));
    calls.on_end(job, end);
  }
}

}  // namespace fathom
