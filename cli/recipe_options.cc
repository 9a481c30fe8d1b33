#include "cli/recipe_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <variant>

#include "cli/common.h"
#include "fathom/base/error.h"
#include "fathom/recipe/fields.h"
#include "fathom/recipe/quality.h"

namespace fathom::cli {

namespace {

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "|") + word;
  return text;
}

// Adds the option of a field. CLI11 reads plain numbers and strings by itself, into the recipe;
// what else there is stays in *word until ReadWord.
struct AddOption {
  CLI::App* app;
  const Field& field;
  std::string* word;

  std::string Flag() const { return "--" + field.option; }
  template <typename Value>
  CLI::Option* Add(Value* value) const {
    return app->add_option(Flag(), *value, field.help)
        ->type_name(field.placeholder)
        ->capture_default_str();
  }
  void AddChoice(const std::string& present) const {
    *word = present;
    Add(word)->type_name(Joined(field.choices))->check(OneOf(field.choices));
  }

  void operator()(bool* value) const {
    if (!field.choices.empty()) return AddChoice(field.choices[*value ? 1 : 0]);
    app->add_flag(Flag() + ",!--no-" + field.option, *value, field.help);
  }
  void operator()(const Choice& choice) const { AddChoice(choice.get()); }
  void operator()(int* value) const {
    Add(value)->check(
        InRange(static_cast<Index>(field.range.low), static_cast<Index>(field.range.high)));
  }
  void operator()(Index* value) const { Add(value); }
  void operator()(std::uint64_t* value) const { AddSeed(app, value, field.help.c_str()); }
  void operator()(double* value) const {
    if (field.unit != "s") {
      Add(value);
    } else {
      Add(word)->description(field.help + ": 90s, 5m or 1h");
    }
  }
  void operator()(std::string* value) const { Add(value); }
  void operator()(std::vector<Index>* value) const {
    *word = JoinCounts(*value);
    Add(word);
  }
};

// Puts what AddOption left in `word` into the recipe.
struct ReadWord {
  const Field& field;
  const std::string& word;

  void operator()(bool* value) const {
    if (!field.choices.empty()) *value = word == field.choices[1];
  }
  void operator()(const Choice& choice) const { choice.set(word); }
  void operator()(double* value) const {
    if (!word.empty()) *value = ParseDuration(("--" + field.option).c_str(), word);
  }
  void operator()(std::vector<Index>* value) const {
    *value = ParseCounts(("--" + field.option).c_str(), word);
  }
  template <typename Value>
  void operator()(Value*) const {}
};

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
    if (!field.option.empty())
      std::visit(AddOption{app, field, &options->words[field.option]}, field.value);
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
    if (!field.option.empty())
      std::visit(ReadWord{field, options->words[field.option]}, field.value);
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
