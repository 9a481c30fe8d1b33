#include "cli/recipe_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <variant>

#include "cli/common.h"
#include "cli/field_options.h"
#include "fathom/base/error.h"
#include "fathom/likelihood/likelihood.h"
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
    return !field->option.empty() && app.count("--" + field->option) > 0;
  };
  const auto write_words = [&] {
    std::map<std::string, std::string> words;
    for (const Field& field : fields) {
      if (!field.option.empty()) words[field.option] = FieldWord(field);
    }
    return words;
  };
  const std::map<std::string, std::string> before = write_words();
  fathom::ApplyQuality(quality, is_given, &options->recipe);
  options->by_quality = write_words();
  std::erase_if(options->by_quality, [&](const auto& entry) {
    const auto& [option, word] = entry;
    const bool may_change = option == "stack" || option == "hidden" || option == "inducing";
    return !may_change && word == before.at(option);
  });
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
  app->add_option(
         "--quality", options->quality,
         "Time against accuracy, as defaults of the other options: fast has fewer "
         "pseudo-points and hidden units, best has --stack always, paper is the network and "
         "the recipe of Bui et al. (2016)")
      ->type_name("fast|default|best|paper")
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
