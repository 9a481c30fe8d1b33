// The kinds of networks that an ensemble is made of.
#ifndef FATHOM_ENSEMBLE_KINDS_H_
#define FATHOM_ENSEMBLE_KINDS_H_

#include <vector>

#include "fathom/data/dataset.h"
#include "fathom/recipe/recipe.h"

namespace fathom {

// From so many rows on, networks are deeper, and one may train for longer than the others.
inline constexpr Index kManyRows = 4000;

// Whether Fit makes an ensemble of it.
bool MakesEnsemble(const Dataset& dataset, const Recipe& recipe);

// Whether the networks of the ensemble are light: fewer pseudo-points and steps than they would
// have alone. `best` wants larger ones, but of many numbers it trains the specialists for longer
// instead.
bool HasLightNetworks(const Recipe& recipe, const Dataset& dataset);

// The recipes of the kinds, the cheapest first. Each is for a network that learns from all but one
// fold of the dataset. Whoever trains them sets the time budgets.
std::vector<Recipe> EnsembleKinds(const Recipe& recipe, const Dataset& dataset);

}  // namespace fathom

#endif  // FATHOM_ENSEMBLE_KINDS_H_
