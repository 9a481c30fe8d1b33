// A recipe as JSON, for model files, configuration files and whoever wants to see it.
#ifndef FATHOM_RECIPE_RECIPE_JSON_H_
#define FATHOM_RECIPE_RECIPE_JSON_H_

#include <nlohmann/json_fwd.hpp>

#include "fathom/recipe/recipe.h"

namespace fathom {

// Every field, grouped as in the structs. The seeds of the start and of the optimiser are not
// fields of their own: the recipe's seed stands for all.
nlohmann::json RecipeToJson(const Recipe& recipe);

// Changes the fields that `json` names; the others stay. Throws Error naming a field that is not
// known or whose value has the wrong kind. Ranges are CheckRecipe's business.
void UpdateRecipe(const nlohmann::json& json, Recipe* recipe);

}  // namespace fathom

#endif  // FATHOM_RECIPE_RECIPE_JSON_H_
