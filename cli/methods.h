// Methods of experiments by name, with their options as texts.
#ifndef FATHOM_CLI_METHODS_H_
#define FATHOM_CLI_METHODS_H_

#include <memory>
#include <string>
#include <vector>

#include "study/predictor.h"

namespace fathom::cli {

struct MethodOption {
  std::string name, value;
};

inline constexpr const char* kDefaultMethod = "deep_gp";

// The method of this kind. Throws Error for a kind that is not known, with those that are, and for
// options that the method does not take.
std::unique_ptr<Method> MakeMethod(const std::string& kind,
                                   const std::vector<MethodOption>& options);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_METHODS_H_
