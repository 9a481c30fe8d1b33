#include "cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>

namespace fathom::cli {

namespace {

volatile std::sig_atomic_t caught_signal = 0;

void TakeNote(int signal) {
  if (caught_signal != 0) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);  // takes effect on return
  }
  caught_signal = signal;
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

std::string TimeLeft(const Progress& progress) {
  if (progress.fraction <= 0) return "?";
  const double left =
      std::min(progress.seconds * (1 - progress.fraction) / progress.fraction, 359999.0);
  const int seconds = static_cast<int>(std::lround(left));
  char buffer[40];
  if (seconds >= 3600) {
    std::snprintf(buffer, sizeof(buffer), "%d:%02d:%02d", seconds / 3600, seconds / 60 % 60,
                  seconds % 60);
  } else {
    std::snprintf(buffer, sizeof(buffer), "%d:%02d", seconds / 60, seconds % 60);
  }
  return buffer;
}

}  // namespace

std::string ProgressLine(const Progress& progress, int width) {
  constexpr int kBar = 20;
  const double fraction = std::clamp(progress.fraction, 0.0, 1.0);
  const int filled = static_cast<int>(fraction * kBar);
  const double speed =
      progress.seconds > 0 ? static_cast<double>(progress.step) / progress.seconds : 0;
  char buffer[200];
  std::snprintf(buffer, sizeof(buffer), "[%s%s] %3.0f %%  energy/row %.4f  %.0f steps/s  %s left",
                std::string(filled, '=').c_str(), std::string(kBar - filled, ' ').c_str(),
                100 * fraction, -progress.value, speed, TimeLeft(progress).c_str());
  // The last column stays free: writing there makes some terminals wrap.
  return std::string(buffer).substr(0, static_cast<std::size_t>(std::max(width - 1, 0)));
}

ProgressBar::ProgressBar(bool quiet) : on_terminal_(!quiet && ::isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (drawn_) WriteError("\r\033[K");
}

void ProgressBar::Show(const Progress& progress) {
  if (!on_terminal_) return;
  const Clock::time_point now = Clock::now();
  if (drawn_ && now - last_ < std::chrono::milliseconds(100)) return;
  std::string line = "\r";
  line += ProgressLine(progress, TerminalWidth());
  WriteError(line + "\033[K");
  drawn_ = true;
  last_ = now;
}

Interrupts::Interrupts() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    // As nohup has it, or a shell for a command in the background.
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = TakeNote;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
}

int Interrupts::Caught() { return caught_signal; }

}  // namespace fathom::cli
