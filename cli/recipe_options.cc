#include "cli/recipe_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <variant>

#include "cli/common.h"
#include "cli/field_options.h"
#include "fathom/base/error.h"
#include "fathom/recipe/fields.h"
#include "fathom/recipe/quality.h"

namespace fathom::cli {

namespace {

void Append(CLI::App* app, const char* option, const std::string& text) {
  CLI::Option* found = app->get_option(option);
  found->description(found->get_description() + text);
}

// What --quality stands for. Options that are given win.
void ApplyQuality(const CLI::App& app, RecipeOptions* options) {
  Quality quality = Quality::kDefault;
  FromName(options->quality, &quality);
  const std::vector<Field> fields = RecipeFields(&options->recipe);
  const auto is_given = [&](const std::string& name) {
    const auto field = std::find_if(fields.begin(), fields.end(),
                                    [&](const Field& some) { return some.name == name; });
    return app.count("--" + field->option) > 0;
  };
  fathom::ApplyQuality(quality, is_given, &options->recipe);
  const Architecture& architecture = options->recipe.architecture;
  options->words["stack"] = NameOf(options->recipe.stack);
  options->words["hidden"] = architecture.hidden.empty() ? "0" : JoinCounts(architecture.hidden);
  options->words["inducing"] = JoinCounts(architecture.inducing);
}

// The library speaks of fields; here they are options.
void CheckOptions(Recipe* recipe) {
  try {
    CheckRecipe(*recipe);
  } catch (const RecipeError& error) {
    for (const Field& field : RecipeFields(recipe)) {
      if (field.name == error.field() && !field.option.empty())
        ThrowError("--", field.option, ": ", error.rule());
    }
    throw;
  }
}

}  // namespace

void AddRecipeOptions(CLI::App* app, RecipeOptions* options) {
  app->add_option("--quality", options->quality,
                  "Time against accuracy, as defaults of the other options: fast has fewer "
                  "pseudo-points and hidden units, best has --stack always")
      ->type_name("fast|default|best")
      ->capture_default_str()
      ->check(OneOf(AllNames<Quality>()));
  for (const Field& field : RecipeFields(&options->recipe)) {
    if (!field.option.empty()) AddFieldOption(field, &options->words[field.option], app);
  }
  Append(app, "--stack", ", unless --hidden, --inducing or --steps is given");
  Append(app, "--hidden", "; 0: none, a plain GP");
  Append(app, "--form", "; 'sites' implies --start paper");
}

Recipe FinishRecipe(const CLI::App& app, RecipeOptions* options) {
  Recipe& recipe = options->recipe;
  if (options->words["form"] == "sites" && app.count("--start") == 0)
    options->words["start"] = "paper";
  for (const Field& field : RecipeFields(&recipe)) {
    if (!field.option.empty()) ReadFieldWord(field, options->words[field.option]);
  }
  if (recipe.architecture.hidden == std::vector<Index>{0}) recipe.architecture.hidden.clear();
  ApplyQuality(app, options);
  CheckOptions(&recipe);
  return recipe;
}

std::string TaskFor(const std::string& task, const Recipe& recipe) {
  const std::string& likelihood = recipe.architecture.likelihood;
  if (task != "auto" || likelihood == "auto") return task;
  return MakeLikelihood(likelihood)->NumClasses(2) > 0 ? "classify" : "regress";
}

}  // namespace fathom::cli
