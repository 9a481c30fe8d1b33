// The six methods, each from standardised rows to a posterior with its findings.
#ifndef FATHOM_BNN_FIT_METHOD_H_
#define FATHOM_BNN_FIT_METHOD_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bnn/expert.h"
#include "bnn/options.h"
#include "bnn/sgld.h"
#include "bnn/training_rows.h"
#include "bnn/watch.h"
#include "fathom/base/threads.h"
#include "fathom/data/dataset.h"

namespace fathom::bnn {

// All that a method needs to fit itself, and where it leaves what it found.
struct FitContext {
  const Dataset& dataset;
  const BaselineOptions& options;
  const TrainingRows& train;
  const MlpShape& shape;
  const ThreadPool& pool;
  Watch* watch;
  std::uint64_t seed;  // of this method on this table
  FitFindings findings = {};
  Index steps = 0;  // that were done, of whatever kind the method has

  std::uint64_t Seed(const char* purpose) const { return SeedFor(seed, purpose); }
  void Choose(const char* name, const nlohmann::json& value) { findings.settings[name] = value; }
  void Note(const char* name, const nlohmann::json& value) { findings.diagnostics[name] = value; }
  void Warn(const std::string& text) { findings.warnings.push_back(text); }
};

// Chains with the setting of the first trial, or with that of *sgld if there is none. Chains are
// longer than their trials, on more rows, and may diverge where these did not: then the best of the
// smaller steps is next. *sgld becomes what was taken.
std::vector<Chain> SampleWithSteps(const std::vector<SgldTrial>& trials, SgldOptions* sgld,
                                   FitContext* context);

// Fits the method of the options. Throws as FitBaseline does.
NetworkPosterior FitMethod(FitContext* context);

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_FIT_METHOD_H_
