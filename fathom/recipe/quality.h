// Time against accuracy in one word, which stands for defaults of other fields.
#ifndef FATHOM_RECIPE_QUALITY_H_
#define FATHOM_RECIPE_QUALITY_H_

#include <array>
#include <functional>
#include <string>

#include "fathom/base/enum_names.h"
#include "fathom/base/export.h"
#include "fathom/recipe/recipe.h"

namespace fathom FATHOM_PUBLIC {

enum class Quality {
  kFast,     // one small network
  kDefault,  // the recipe as it is
  kBest,     // always a stack
  kPaper,    // Bui et al. (2016) to the letter, with its largest network, DGP-3-100
};
constexpr auto NamesOf(Quality) {
  return std::to_array<EnumName<Quality>>({{Quality::kFast, "fast"},
                                           {Quality::kDefault, "default"},
                                           {Quality::kBest, "best"},
                                           {Quality::kPaper, "paper"}});
}

// Sets the fields that `quality` stands for, but none that the user has given; is_given takes the
// name of a field ("architecture.hidden"). Who asks for a certain network by its size or its steps
// gets that one and no stack, unless for the best quality.
void ApplyQuality(Quality quality, const std::function<bool(const std::string&)>& is_given,
                  Recipe* recipe);

}  // namespace fathom

#endif  // FATHOM_RECIPE_QUALITY_H_
