#include "fathom/recipe/quality.h"

namespace fathom {

void ApplyQuality(Quality quality, const std::function<bool(const std::string&)>& is_given,
                  Recipe* recipe) {
  const bool hidden = is_given("architecture.hidden");
  const bool inducing = is_given("architecture.inducing");
  const bool fast = quality == Quality::kFast;
  if (fast && !hidden) recipe->architecture.hidden = {3};
  if (fast && !inducing) recipe->architecture.inducing = {50, 30};
  if (is_given("stack")) return;
  if (quality == Quality::kBest) {
    recipe->stack = Stacking::kAlways;
  } else if (fast || hidden || inducing || is_given("optimizer.steps")) {
    recipe->stack = Stacking::kNever;
  }
}

}  // namespace fathom
