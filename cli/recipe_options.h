// The options that are fields of the recipe, for every command that trains.
#ifndef FATHOM_CLI_RECIPE_OPTIONS_H_
#define FATHOM_CLI_RECIPE_OPTIONS_H_

#include <map>
#include <string>

#include "cli/cli11_fwd.h"
#include "fathom/recipe/recipe.h"

namespace fathom::cli {

struct RecipeOptions {
  std::string quality = "default";
  Recipe recipe;
  std::map<std::string, std::string> words;  // by option: what CLI11 cannot put into the recipe
  // By option: what the quality stands for, once FinishRecipe has put it into the recipe.
  std::map<std::string, std::string> by_quality = {};
};

// Their defaults are the recipe's.
void AddRecipeOptions(CLI::App* app, RecipeOptions* options);

// The recipe, with the values that CLI11 could not put there by itself. Throws Error for one that
// is out of range.
Recipe FinishRecipe(const CLI::App& app, RecipeOptions* options);

// The task, with 'auto' replaced by what the likelihood asks for: a likelihood of classes asks for
// classes, one of numbers for numbers.
std::string TaskFor(const std::string& task, const Recipe& recipe);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_RECIPE_OPTIONS_H_
