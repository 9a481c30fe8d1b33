// The demos: a GP and a deep GP, both with default settings, on functions that one GP cannot
// follow.
#ifndef FATHOM_CLI_DEMO_H_
#define FATHOM_CLI_DEMO_H_

#include <memory>
#include <string>
#include <vector>

#include "fathom/evaluate/metrics.h"
#include "fathom/fitted/model.h"
#include "study/sampled_function.h"

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

// The sampled points as a table for the other commands, the target in column "value".
void SaveSamples(const std::string& path, std::vector<std::string> input_names,
                 const SampledFunction& samples);

// A function that was learnt, and how well.
struct Demo {
  std::string name;   // as its files are called
  std::string title;  // for people
  Index train_rows = 0, test_rows = 0;
  double noise_std = 0;  // of both
  std::string picture;
  std::vector<std::string> tables = {};
  std::vector<Contestant> contestants = {};
};

// Each fits, and writes its picture and its tables into the folder.
Demo MountainCarDemo(const std::string& folder, int threads);
Demo StepDemo(const std::string& folder, int threads);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_DEMO_H_
