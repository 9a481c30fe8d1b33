// The fields of a recipe, each described once: name, kind, allowed values, help, and the program's
// option. JSON, checks, the command line and the documentation follow from this list; defaults are
// those of a Recipe that nobody has touched.
#ifndef FATHOM_RECIPE_FIELDS_H_
#define FATHOM_RECIPE_FIELDS_H_

#include <vector>

#include "fathom/recipe/field.h"
#include "fathom/recipe/recipe.h"

namespace fathom {

// All fields of *recipe, which must outlive them, in the order in which people read them.
std::vector<Field> RecipeFields(Recipe* recipe);

}  // namespace fathom

#endif  // FATHOM_RECIPE_FIELDS_H_
