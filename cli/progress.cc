#include "cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

namespace fathom::cli {

namespace {

volatile std::sig_atomic_t caught_signal = 0;

// This is processor time: a step that is nearly done is not lost because the machine is busy. The
// clock is that of the main thread, which takes part in all work: that of the process runs as many
// times faster as there are cores.
constexpr time_t kPatience = 2;  // seconds
timer_t patience;

void SetPatience(time_t seconds) {
  const itimerspec time{{0, 0}, {seconds, 0}};
  ::timer_settime(patience, 0, &time, nullptr);
}

void TakeNote(int signal) {
  if (caught_signal != 0) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);  // takes effect on return
  }
  caught_signal = signal;
  SetPatience(kPatience);
}

// Ends the program if a step takes too long to wait for, as in a large network.
void GiveUp(int /*signal*/) {
  constexpr std::string_view kMessage =
      "fathom: interrupted within a long step, whose result is lost; what was written before it, "
      "such as a checkpoint for 'fathom resume', is still there\n";
  static_cast<void>(::write(STDERR_FILENO, kMessage.data(), kMessage.size()) < 0);
  std::_Exit(128 + caught_signal);
}

int TerminalWidth() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

void WriteError(const std::string& text) {
  // A terminal that is gone is no reason to stop a training.
  static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
}

// The last column stays free: writing there makes some terminals wrap.
std::string Fitting(const std::string& line, int width) {
  return line.substr(0, static_cast<std::size_t>(std::max(width - 1, 0)));
}

std::string TimeLeft(const Progress& progress) {
  if (progress.fraction <= 0) return "?";
  return TimeText(progress.seconds * (1 - progress.fraction) / progress.fraction);
}

}  // namespace

std::string TimeText(double seconds) {
  const int whole = static_cast<int>(std::lround(std::min(seconds, 359999.0)));
  char buffer[40];
  if (whole >= 3600) {
    std::snprintf(buffer, sizeof(buffer), "%d:%02d:%02d", whole / 3600, whole / 60 % 60,
                  whole % 60);
  } else {
    std::snprintf(buffer, sizeof(buffer), "%d:%02d", whole / 60, whole % 60);
  }
  return buffer;
}

std::string BarText(double fraction) {
  constexpr int kBar = 20;
  const double filled = std::clamp(fraction, 0.0, 1.0);
  const auto full = static_cast<std::size_t>(filled * kBar);
  char buffer[60];
  std::snprintf(buffer, sizeof(buffer), "[%s%s] %3.0f %%", std::string(full, '=').c_str(),
                std::string(kBar - full, ' ').c_str(), 100 * filled);
  return buffer;
}

std::string ProgressLine(const Progress& progress, int width) {
  const double speed =
      progress.seconds > 0 ? static_cast<double>(progress.step) / progress.seconds : 0;
  char buffer[200];
  std::snprintf(buffer, sizeof(buffer), "%s  energy/row %.4f  %.0f steps/s  %s left",
                BarText(progress.fraction).c_str(), -progress.value, speed,
                TimeLeft(progress).c_str());
  return Fitting(buffer, width);
}

ProgressBar::ProgressBar(bool quiet) : on_terminal_(!quiet && ::isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (drawn_) WriteError("\r\033[K");
}

bool ProgressBar::IsTime() {
  const Clock::time_point now = Clock::now();
  if (!on_terminal_ || (drawn_ && now - last_ < std::chrono::milliseconds(100))) return false;
  last_ = now;
  return true;
}

void ProgressBar::Show(const Progress& progress) {
  if (!IsTime()) return;
  WriteError("\r" + ProgressLine(progress, TerminalWidth()) + "\033[K");
  drawn_ = true;
}

void ProgressBar::Show(const std::string& line) {
  if (!IsTime()) return;
  WriteError("\r" + Fitting(line, TerminalWidth()) + "\033[K");
  drawn_ = true;
}

Interrupts::Interrupts() {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGPROF;
  std::signal(SIGPROF, GiveUp);
  // Where there is none, a long step is waited for.
  static_cast<void>(::timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &patience));
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    // nohup ignores it, and so does a shell for a command in the background.
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = TakeNote;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
}

int Interrupts::Caught() {
  if (caught_signal != 0) SetPatience(0);
  return caught_signal;
}

}  // namespace fathom::cli
