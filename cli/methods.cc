#include "cli/methods.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/baseline_options.h"
#include "cli/config.h"
#include "cli/recipe_options.h"
#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "study/baseline_method.h"
#include "study/command_method.h"
#include "study/deep_gp_method.h"
#include "study/simple_methods.h"

namespace fathom::cli {

namespace {

// Reads the options of a study's method as if they were given to a command.
void ParseMethodOptions(const std::vector<MethodOption>& options, CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app->get_options()) names.push_back(SettingName(*option));
  std::erase(names, "threads");  // a unit has one, whatever anybody says
  std::vector<std::string> words;
  for (const MethodOption& option : options) {
    if (std::count(names.begin(), names.end(), option.name) == 0)
      ThrowError("there is no option ", Quoted(option.name), DidYouMean(option.name, names),
                 " the options are ", QuotedList(names, 50));
    words.push_back("--" + option.name + "=" + option.value);
  }
  try {
    app->parse(words);
  } catch (const CLI::ParseError& error) {
    ThrowError(error.what());
  }
}

// The options are those of 'fathom fit' that shape a model.
std::unique_ptr<Method> MakeDeepGp(const std::vector<MethodOption>& options) {
  CLI::App app;
  app.set_help_flag("");
  RecipeOptions recipe;
  AddRecipeOptions(&app, &recipe);
  ParseMethodOptions(options, &app);
  return DeepGpMethod(FinishRecipe(app, &recipe));
}

// The options are those of 'fathom baseline' with this method.
MethodKind BaselineKind(bnn::Baseline method) {
  return {NameOf(method), [method](const std::vector<MethodOption>& options) {
            CLI::App app;
            app.set_help_flag("");
            BaselineWords baseline;
            baseline.options.method = method;
            AddBaselineOptions(&app, &baseline, &method);
            ParseMethodOptions(options, &app);
            return BaselineMethod(FinishBaseline(app, &baseline));
          }};
}

std::unique_ptr<Method> MakeCommand(const std::vector<MethodOption>& options) {
  std::string command;
  for (const MethodOption& option : options) {
    if (option.name != "command")
      ThrowError("there is no option ", Quoted(option.name), "; a command has only 'command'");
    command = option.value;
  }
  return CommandMethod(command);
}

MethodKind SimpleKind(const char* name, std::unique_ptr<Method> (*make)()) {
  return {name, [=](const std::vector<MethodOption>& options) {
            if (!options.empty()) ThrowError("it takes no option ", Quoted(options[0].name));
            return make();
          }};
}

}  // namespace

// A new method adds its line here.
std::vector<MethodKind> MethodKinds() {
  std::vector<MethodKind> kinds = {{"deep_gp", MakeDeepGp}};
  for (const auto& [method, name] : NamesOf(bnn::Baseline())) kinds.push_back(BaselineKind(method));
  kinds.push_back({"command", MakeCommand});
  kinds.push_back(SimpleKind("line", LineMethod));
  kinds.push_back(SimpleKind("constant", ConstantMethod));
  return kinds;
}

}  // namespace fathom::cli
