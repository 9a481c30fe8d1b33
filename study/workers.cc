#include "study/workers.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "fathom/base/error.h"
#include "fathom/base/option_text.h"
#include "fathom/base/stopwatch.h"
#include "fathom/io/json_text.h"
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

[[noreturn]] void RunChild(const std::string& text, pid_t parent, int pipe,
                           const WorkersOptions& options, const RunJob& run) {
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
  ::_exit(WriteAll(pipe, run(text)) ? EXIT_SUCCESS : EXIT_FAILURE);
}

// What rank 0 hands out.
struct Job {
  std::size_t number = 0;
  std::string text;
};

Running StartJob(const Job& job, const WorkersOptions& options, const RunJob& run) {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) ThrowError("the system refuses a pipe: ", std::strerror(errno));
  const Stopwatch watch;  // here, because the child may be done before the parent goes on
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process < 0)
    ThrowError("the system refuses a process: ", std::strerror(errno), "; run fewer at a time");
  if (process == 0) {
    ::close(ends[0]);
    RunChild(job.text, parent, ends[1], options, run);
  }
  ::close(ends[1]);
  return {.job = job.number, .process = process, .pipe = ends[0], .watch = watch};
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
  end.machine = options.machine;
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

struct Ended {
  std::size_t job = 0;
  JobEnd end;
};

// The jobs of one rank.
class Processes {
 public:
  Processes(const WorkersOptions& options, const RunJob& run) : options_(options), run_(run) {}

  void Start(const Job& job) { running_.push_back(StartJob(job, options_, run_)); }
  // Waits until one ends, or a while.
  std::vector<Ended> Wait() {
    std::size_t ended = 0;
    if (running_.empty() || !NextEnd(&running_, &ended)) return {};
    const std::size_t job = running_[ended].job;
    const JobEnd end = FinishJob(&running_[ended], options_);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(ended));
    return {{job, end}};
  }

 private:
  const WorkersOptions& options_;
  const RunJob& run_;
  std::vector<Running> running_;
};

// What ranks tell each other. Strings may hold any bytes.
using Message = nlohmann::json;

std::string ReportOn(const std::vector<Ended>& ended) {
  Message list = Message::array();
  for (const auto& [job, end] : ended) {
    list.push_back({job, end.output, end.death, end.cpu_seconds, end.wall_seconds, end.peak_memory,
                    end.machine});
  }
  return JsonBytes(list);
}

std::vector<Ended> ReadReport(const std::string& report) {
  std::vector<Ended> ended;
  for (const Message& item : JsonFromBytes(report))
    ended.push_back({item[0], {item[1], item[2], item[3], item[4], item[5], item[6]}});
  return ended;
}

// Rank 0's view: which jobs are left, and how many run where.
class HandOut {
 public:
  HandOut(const std::vector<std::string>& jobs, const WorkersOptions& options,
          const WorkersCalls& calls, int ranks)
      : jobs_(jobs), options_(options), calls_(calls), running_(static_cast<std::size_t>(ranks)) {}

  void Hear(const std::vector<std::string>& reports) {
    for (std::size_t r = 0; r < reports.size(); ++r) {
      for (const auto& [job, end] : ReadReport(reports[r])) {
        --running_[r];
        calls_.on_end(job, end);
      }
    }
  }

  // For each rank, a list of jobs to start. Null: there is nothing more to do.
  Message Orders() {
    stops_ = stops_ || calls_.wants_to_stop();
    std::vector<Message> orders(running_.size(), Message::array());
    const auto least = [&] { return std::min_element(running_.begin(), running_.end()); };
    while (!stops_ && next_ < jobs_.size() && *least() < options_.processes) {
      const auto rank = least();
      ++*rank;
      orders[static_cast<std::size_t>(rank - running_.begin())].push_back({next_, jobs_[next_]});
      calls_.on_start(next_++);
    }
    const bool idle = std::all_of(running_.begin(), running_.end(), [](int n) { return n == 0; });
    return idle ? Message() : Message(orders);
  }

 private:
  const std::vector<std::string>& jobs_;
  const WorkersOptions& options_;
  const WorkersCalls& calls_;
  std::vector<int> running_;  // [rank]
  std::size_t next_ = 0;
  bool stops_ = false;
};

// What every rank does. `orders` turns the reports of all into what each starts next; it is asked
// at rank 0 alone.
template <typename Orders>
void Work(const WorkersOptions& options, const RunJob& run, const Communicator& ranks,
          const Orders& orders) {
  Processes processes(options, run);
  std::vector<Ended> ended;
  for (;;) {
    const std::vector<std::string> reports = ranks.Gather(ReportOn(ended));
    std::string text = ranks.rank() == 0 ? orders(reports) : "";
    ranks.Broadcast(&text);
    const Message all = JsonFromBytes(text);
    if (all.is_null()) return;
    for (const Message& job : all[static_cast<std::size_t>(ranks.rank())])
      processes.Start({job[0], job[1]});
    ended = processes.Wait();
  }
}

}  // namespace

void RunInProcesses(const std::vector<std::string>& jobs, const WorkersOptions& options,
                    const WorkersCalls& calls, const Communicator& ranks) {
  HandOut hand_out(jobs, options, calls, ranks.size());
  Work(options, calls.run, ranks, [&](const std::vector<std::string>& reports) {
    hand_out.Hear(reports);
    return JsonBytes(hand_out.Orders());
  });
}

void HelpInProcesses(const WorkersOptions& options, const RunJob& run, const Communicator& ranks) {
  Work(options, run, ranks, [](const std::vector<std::string>&) { return std::string(); });
}

}  // namespace fathom
