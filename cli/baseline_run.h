// What 'baseline' and 'resume' have in common: a baseline that can be watched, interrupted and
// resumed, and its report.
#ifndef FATHOM_CLI_BASELINE_RUN_H_
#define FATHOM_CLI_BASELINE_RUN_H_

#include <functional>
#include <string>

#include "bnn/fit.h"

namespace fathom::cli {

struct BaselineRun {
  std::string output;
  std::string checkpoint_every = "30s";
  bool json = false;
};

// Runs `fit` on the dataset; writes checkpoints, the model and the report; returns the exit code.
int FitBaselineWatched(const BaselineRun& run, const Dataset& dataset,
                       const std::function<Model(bnn::BaselineControl)>& fit);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_BASELINE_RUN_H_
