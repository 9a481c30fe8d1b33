// The options of 'fathom baseline', which are also those of such methods in studies.
#ifndef FATHOM_CLI_BASELINE_OPTIONS_H_
#define FATHOM_CLI_BASELINE_OPTIONS_H_

#include <map>
#include <string>
#include <vector>

#include "bnn/options.h"
#include "cli/cli11_fwd.h"

namespace fathom::cli {

struct BaselineWords {
  bnn::BaselineOptions options;
  std::map<std::string, std::string> words;  // by option: what CLI11 cannot put there by itself
};

// The options of all methods, or of one.
void AddBaselineOptions(CLI::App* app, BaselineWords* baseline,
                        const bnn::Baseline* method = nullptr);

// The options, checked. Throws Error for one that was given and that the method does not have.
bnn::BaselineOptions FinishBaseline(const CLI::App& app, BaselineWords* baseline);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_BASELINE_OPTIONS_H_
