// The top of a pass: its rows meet their targets.
#ifndef FATHOM_INFERENCE_TARGETS_H_
#define FATHOM_INFERENCE_TARGETS_H_

#include "fathom/inference/pass.h"

namespace fathom {

// What a row's log Z is taken of: the power alpha of EP and, where hidden units are sampled, the
// power under which the paths are mixed (MixPaths) and where the paths come from.
struct LogZOptions {
  double alpha = 1;
  double outer = 1;
  PathSource paths = {};
};

class Targets {
 public:
  // Sets the memory up for the rows of such passes.
  void Reserve(const DeepGp& model, Index paths);
  // log Z of row `row` of the pass, whose target is y, times `weight`. Adds it and its derivatives
  // with respect to the likelihood's parameters and the points' weights to *sums; writes those with
  // respect to the row's part of pass->top() to pass->d_top().
  struct Row {
    Index row = 0;
    const double* y = nullptr;
    double weight = 1;
  };
  void Meet(const Network& network, const LogZOptions& options, const Row& row, Pass* pass,
            Sums* sums);

 private:
  void MeetJointly(const DeepGp& model, double alpha, const Row& row, Pass* pass, Sums* sums);

  Vector log_weights_;    // of the paths
  Vector log_z_;          // of the row, or of each of its paths
  Matrix d_likelihood_;   // beside it, [., parameters]
  Vector d_log_weights_;  // of the paths
};

}  // namespace fathom

#endif  // FATHOM_INFERENCE_TARGETS_H_
