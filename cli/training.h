// What 'fit' and 'resume' have in common: a training that can be watched, interrupted and resumed,
// and its report.
#ifndef FATHOM_CLI_TRAINING_H_
#define FATHOM_CLI_TRAINING_H_

#include <functional>
#include <string>

#include "cli/cli11_fwd.h"
#include "cli/common.h"
#include "fathom/fit/resume.h"

namespace fathom::cli {

struct TrainingOptions {
  std::string output;
  std::string log;
  std::string checkpoint_every = "30s";
  bool json = false;
};

// --checkpoint-every, and the seconds that it means.
void AddCheckpointEvery(CLI::App* app, std::string* time);
double CheckpointInterval(const std::string& time);

// Passes on the first of many failures of one kind.
class Warning {
 public:
  explicit Warning(std::string consequence) : consequence_(std::move(consequence)) {}
  void operator()(const std::string& message) {
    if (!given_) Complain(message + consequence_);
    given_ = true;
  }
  bool given() const { return given_; }

 private:
  std::string consequence_;
  bool given_ = false;
};

// All but the output, which is an option of 'fit' and an argument of 'resume'.
void AddTrainingOptions(CLI::App* app, TrainingOptions* options);

// The file beside the model that holds a training that is not finished.
std::string CheckpointPath(const std::string& model);

// Runs `train` on the rows from `first_step` on; writes the model, the log and the report; returns
// the exit code.
int Train(const TrainingOptions& options, const DatasetRows& rows, Index first_step,
          const std::function<Model(FitControl)>& train);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_TRAINING_H_
