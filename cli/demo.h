// The demos: a GP and a deep GP, both with default settings, on functions that one GP cannot
// follow.
#ifndef FATHOM_CLI_DEMO_H_
#define FATHOM_CLI_DEMO_H_

#include <memory>
#include <string>
#include <vector>

#include "fathom/demo/sampled_function.h"
#include "fathom/evaluate/metrics.h"
#include "fathom/fit/model.h"

namespace fathom::cli {

struct Contestant {
  std::string name;
  std::unique_ptr<ModelPredictor> predictor;
  Scores scores;  // on fresh, noisy rows
};

// Fits the default recipe with these hidden layers and scores it.
Contestant FitAndScore(const std::string& name, const std::vector<Index>& hidden,
                       const std::vector<std::string>& input_names, const SampledFunction& train,
                       const SampledFunction& test, int threads);

// One line of scores per contestant.
std::string ScoreTable(const std::vector<Contestant>& contestants);

// The sampled points as a table for the other commands, the target in column "value".
void SaveSamples(const std::string& path, std::vector<std::string> input_names,
                 const SampledFunction& samples);

// Each writes its picture and, for the mountain car, its tables (beside the picture), and returns
// what to print.
std::string MountainCarDemo(const std::string& picture, int threads);
std::string StepDemo(const std::string& picture, int threads);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_DEMO_H_
