// What a target of numbers looks like, for proposals.
#ifndef FATHOM_CLI_TARGET_KIND_H_
#define FATHOM_CLI_TARGET_KIND_H_

#include <string>

#include "fathom/data/dataset.h"

namespace fathom::cli {

struct LikelyTarget {
  std::string name;     // "classes", "numbers", "two_values" or "counts"
  std::string meaning;  // for people; empty where the default recipe is the only choice
  std::string options;  // with which fit takes it for what it may be; empty: with none
};

// The dataset is one for training. Several targets count as numbers.
LikelyTarget KindOfTarget(const Dataset& dataset);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_TARGET_KIND_H_
