#include "cli/target_kind.h"

#include "fathom/base/option_text.h"
#include "fathom/data/target_nature.h"

namespace fathom::cli {

LikelyTarget KindOfTarget(const Dataset& dataset) {
  if (dataset.schema().has_classes()) return {"classes", "", ""};
  if (dataset.targets().cols() != 1) return {"numbers", "", ""};
  const TargetNature nature = NatureOf(dataset.targets().col(0));
  if (nature.has_two_values()) {
    return {"two_values",
            "two values, " + Short(nature.least) + " and " + Short(nature.most) +
                "; if they are classes",
            " --task classify"};
  }
  if (nature.is_count()) {
    return {"counts", Describe(nature) + "; fit predicts them as counts where that is better", ""};
  }
  return {"numbers", "", ""};
}

}  // namespace fathom::cli
