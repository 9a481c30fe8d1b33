#include "cli/methods.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/config.h"
#include "cli/recipe_options.h"
#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "study/deep_gp_method.h"

namespace fathom::cli {

namespace {

// The options are those of 'fathom fit' that shape a model.
std::unique_ptr<Method> MakeDeepGp(const std::vector<MethodOption>& options) {
  CLI::App app;
  app.set_help_flag("");
  RecipeOptions recipe;
  AddRecipeOptions(&app, &recipe);
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.push_back(SettingName(*option));
  std::erase(names, "threads");  // a unit has one, whatever anybody says
  std::vector<std::string> words;
  for (const MethodOption& option : options) {
    if (std::count(names.begin(), names.end(), option.name) == 0)
      ThrowError("there is no option ", Quoted(option.name), DidYouMean(option.name, names),
                 " the options are ", QuotedList(names, 50));
    words.push_back("--" + option.name + "=" + option.value);
  }
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    ThrowError(error.what());
  }
  return DeepGpMethod(FinishRecipe(app, &recipe));
}

}  // namespace

// A new method adds its line here.
std::vector<MethodKind> MethodKinds() { return {{"deep_gp", MakeDeepGp}}; }

}  // namespace fathom::cli
