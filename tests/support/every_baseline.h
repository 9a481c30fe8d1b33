// What a test suite over all baselines is instantiated with.
#ifndef FATHOM_TESTS_SUPPORT_EVERY_BASELINE_H_
#define FATHOM_TESTS_SUPPORT_EVERY_BASELINE_H_

#include <gtest/gtest.h>

#include <string>

#include "bnn/options.h"

namespace fathom::bnn {

inline auto AllBaselines() {
  return testing::Values(Baseline::kViG, Baseline::kVi, Baseline::kPbp, Baseline::kDropout,
                         Baseline::kSgld, Baseline::kHmc);
}

// GoogleTest allows no hyphens in names.
inline std::string BaselineTestName(const testing::TestParamInfo<Baseline>& test) {
  std::string name = NameOf(test.param);
  std::erase(name, '-');
  return name;
}

}  // namespace fathom::bnn

#endif  // FATHOM_TESTS_SUPPORT_EVERY_BASELINE_H_
