// A line on the terminal that shows how far a training is, and the wish of the user to end it.
#ifndef FATHOM_CLI_PROGRESS_H_
#define FATHOM_CLI_PROGRESS_H_

#include <chrono>
#include <string>

#include "fathom/optimize/minimize.h"

namespace fathom::cli {

// One line of at most `width` characters: bar, percent, energy per row, speed, time left.
std::string ProgressLine(const Progress& progress, int width);

// "1:02:03" or "2:03".
std::string TimeText(double seconds);
// "[====      ]  40 %".
std::string BarText(double fraction);

// Draws on standard error if that is a terminal, at most ten times a second; the line is gone when
// the bar is.
class ProgressBar {
 public:
  explicit ProgressBar(bool quiet = false);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void Show(const Progress& progress);
  void Show(const std::string& line);
  bool on_terminal() const { return on_terminal_; }

 private:
  bool IsTime();
  using Clock = std::chrono::steady_clock;
  bool on_terminal_;
  bool drawn_ = false;
  Clock::time_point last_;
};

// Catches SIGINT, SIGTERM and SIGHUP from its construction until the program ends: the first is
// noted, a second ends the program, and so does the first if nobody asks for it within two seconds
// of computing. A signal that was ignored stays ignored. Make only one.
class Interrupts {
 public:
  Interrupts();
  // The number of the signal that came, or 0.
  static int Caught();
};

}  // namespace fathom::cli

#endif  // FATHOM_CLI_PROGRESS_H_
