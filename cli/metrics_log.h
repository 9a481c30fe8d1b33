// The course of a training as a file of JSON lines.
#ifndef FATHOM_CLI_METRICS_LOG_H_
#define FATHOM_CLI_METRICS_LOG_H_

#include <string>
#include <vector>

#include "fathom/fit/fit.h"

namespace fathom::cli {

class MetricsLog {
 public:
  // A log of the steps after `first_step`. What the file says of the steps up to there stays, so
  // that a resumed training leaves the lines of one that was never stopped; with 0 it starts empty.
  // Throws Error if the file cannot be written, or if it should be continued and is no such log.
  MetricsLog(const std::string& path, std::vector<std::string> target_names, Index first_step);
  ~MetricsLog();
  MetricsLog(const MetricsLog&) = delete;
  MetricsLog& operator=(const MetricsLog&) = delete;

  // One line each. False if it could not be written: then problem() says why.
  bool Write(const EpochMetrics& metrics);
  bool WriteEnd(const TrainingSummary& summary);
  const std::string& problem() const { return problem_; }

 private:
  bool WriteLine(const std::string& line);

  std::string path_;
  std::vector<std::string> target_names_;
  int descriptor_ = -1;
  std::string problem_;
};

}  // namespace fathom::cli

#endif  // FATHOM_CLI_METRICS_LOG_H_
