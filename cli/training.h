// What 'fit' and 'resume' have in common: a training that can be watched, interrupted and resumed,
// and its report.
#ifndef FATHOM_CLI_TRAINING_H_
#define FATHOM_CLI_TRAINING_H_

#include <functional>
#include <string>

#include "cli/cli11_fwd.h"
#include "fathom/fit/resume.h"

namespace fathom::cli {

struct TrainingOptions {
  std::string output;
  std::string log;
  std::string checkpoint_every = "30s";
  bool json = false;
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
