// Which networks an ensemble is made of: the kinds that a table may call for, and those that turn
// out to be worth their time.
#ifndef FATHOM_ENSEMBLE_KINDS_H_
#define FATHOM_ENSEMBLE_KINDS_H_

#include <vector>

#include "fathom/data/dataset.h"
#include "fathom/model/deep_gp.h"
#include "fathom/recipe/recipe.h"

namespace fathom {

// Whether Fit makes an ensemble of it.
bool MakesStack(const Dataset& dataset, const Recipe& recipe);

// The recipes of the kinds; the first is the given one.
std::vector<Recipe> StackRecipes(const Recipe& recipe, const Dataset& dataset);

// Those of them that are worth their time once the network of the first kind is known.
std::vector<Recipe> PromisingKinds(std::vector<Recipe> kinds, const DeepGp& first);

}  // namespace fathom

#endif  // FATHOM_ENSEMBLE_KINDS_H_
