// Methods of studies by name, with their options as they stand in the study's file.
#ifndef FATHOM_STUDY_METHODS_H_
#define FATHOM_STUDY_METHODS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "study/predictor.h"

namespace fathom {

struct MethodOption {
  std::string name, value;
};

struct MethodKind {
  std::string name;
  // Throws Error for options that the method does not take.
  std::function<std::unique_ptr<Method>(const std::vector<MethodOption>& options)> make;
};

// The method of the kind that is called `name`; the first kind if `name` is empty. Throws Error for
// a kind that is not known, with those that are.
std::unique_ptr<Method> MakeMethod(const std::vector<MethodKind>& kinds, const std::string& name,
                                   const std::vector<MethodOption>& options);

}  // namespace fathom

#endif  // FATHOM_STUDY_METHODS_H_
