#include "cli/target_kind.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "fathom/base/option_text.h"

namespace fathom::cli {

LikelyTarget KindOfTarget(const Dataset& dataset) {
  if (dataset.schema().has_classes()) return {"classes", "", ""};
  const LikelyTarget numbers{"numbers", "", ""};
  if (dataset.targets().cols() != 1) return numbers;
  std::set<double> values;
  bool whole = true;
  for (const double y : dataset.targets().col(0)) {
    if (values.size() <= 2) values.insert(y);
    whole = whole && y >= 0 && y == std::floor(y);
  }
  if (values.size() == 2) {
    return {"two_values",
            "two values, " + Short(*values.begin()) + " and " + Short(*values.rbegin()) +
                "; if they are classes",
            " --task classify"};
  }
  // Whole numbers that begin far from 0, such as years and prices, are no counts.
  constexpr double kFewest = 2;
  if (values.size() > 2 && whole && dataset.targets().minCoeff() <= kFewest)
    return {"counts", "whole numbers from 0 on; if they are counts", " --likelihood poisson"};
  return numbers;
}

}  // namespace fathom::cli
