// 'fathom recipe': the fields of a recipe, with their defaults, as people or programs read them.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "fathom/io/json_text.h"
#include "fathom/recipe/recipe_json.h"

namespace fathom::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRecipeExample =
    "Examples:\n"
    "  fathom recipe                                  every field, its default and its meaning\n"
    "  fathom recipe --json | jq -r '.[].name'\n\n"
    "A model holds the recipe it was made with: 'fathom inspect MODEL' shows it. The options of "
    "'fathom fit' set most fields.";

std::string JoinedByCommas(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// "alpha = 0.7   number, from 0 to 1 (--alpha)", and below it what that means.
std::string Human(const Json& field) {
  std::string text = field["name"].get<std::string>() + " = " + JsonText(field["default"]);
  text += "   " + field["kind"].get<std::string>();
  if (field.contains("allowed")) text += ", " + field["allowed"].get<std::string>();
  if (field.contains("choices"))
    text += ": " + JoinedByCommas(field["choices"].get<std::vector<std::string>>());
  if (field.contains("unit")) text += ", in " + field["unit"].get<std::string>();
  if (field.contains("option")) text += " (" + field["option"].get<std::string>() + ")";
  return text + "\n    " + field["help"].get<std::string>() + "\n";
}

}  // namespace

Command AddRecipe(CLI::App* program) {
  const auto json = std::make_shared<bool>(false);
  CLI::App* app = program->add_subcommand("recipe", "List the fields of a recipe");
  app->add_flag("--json", *json, "Write the list as JSON");
  app->footer(kRecipeExample);
  return {app, [json] {
            const Json fields = DescribeRecipe();
            std::string text;
            for (const Json& field : fields) text += Human(field);
            WriteOut(*json ? JsonText(fields, 2) + "\n" : text);
            return kGood;
          }};
}

}  // namespace fathom::cli
