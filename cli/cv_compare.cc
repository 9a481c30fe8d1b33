#include "cli/cv_compare.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/align.h"
#include "cli/common.h"
#include "cli/recipe_options.h"
#include "cli/score_lines.h"
#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/fitted/report.h"
#include "fathom/io/json_text.h"

namespace fathom::cli {

Recipe RecipeOf(const CLI::App& command, const std::string& words) {
  RecipeOptions options;
  CLI::App parser;
  parser.set_help_flag("");
  parser.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  AddRecipeOptions(&parser, &options);
  std::vector<std::string> arguments;
  for (const CLI::Option* option : parser.get_options()) {
    for (const std::string& value : command.get_option(option->get_name())->results())
      arguments.push_back(option->get_name() + "=" + value);
  }
  if (words != "default") {
    for (const std::string& word : CLI::detail::split_up(words)) arguments.push_back(word);
  }
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    parser.parse(arguments);
  } catch (const CLI::ParseError& error) {
    ThrowError("--compare: ", Quoted(words), ": ", error.what(),
               "; write options of a recipe, such as '--hidden 0', or 'default' or 'linear'");
  }
  return FinishRecipe(parser, &options);
}

namespace {

// What the recipes reach on one of several targets.
std::vector<ComparedRecipe> OfTarget(const std::vector<ComparedRecipe>& compared,
                                     std::size_t target) {
  std::vector<ComparedRecipe> own;
  for (const auto& [words, scores] : compared) own.push_back({words, scores.of_target[target]});
  return own;
}

std::string Lines(const std::vector<ComparedRecipe>& compared) {
  std::vector<std::vector<std::string>> rows = {{"recipe"}};
  const auto shown = [](const ScoreKind& kind) {
    return kind.in_studies && kind.better != Better::kOnTarget;
  };
  for (const auto& [kind, value] : NamedScores(compared.front().scores.mean)) {
    if (shown(*kind)) rows[0].emplace_back(kind->key);
  }
  for (const auto& [words, scores] : compared) {
    rows.push_back({words});
    const std::vector<NamedScore> errors = NamedScores(scores.standard_error);
    const std::vector<NamedScore> means = NamedScores(scores.mean);
    for (std::size_t i = 0; i < means.size(); ++i) {
      if (!shown(*means[i].kind)) continue;
      rows.back().push_back(Short(means[i].value) +
                            (std::isnan(errors[i].value) ? "" : " +- " + Short(errors[i].value)));
    }
  }
  for (auto& row : rows) row.emplace_back();  // Align sets the last column to the left
  return Align(rows);
}

nlohmann::ordered_json Entries(const std::vector<ComparedRecipe>& compared) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const auto& [words, scores] : compared) {
    json.push_back({{"recipe", words},
                    {"mean", ScoresJson(scores.mean)},
                    {"standard_error", ScoresJson(scores.standard_error)}});
  }
  return json;
}

}  // namespace

std::string ComparisonText(const std::vector<ComparedRecipe>& compared,
                           const std::vector<std::string>& targets) {
  if (compared.front().scores.of_target.empty()) return Lines(compared);
  std::string text;
  for (std::size_t t = 0; t < targets.size(); ++t) {
    text += (t > 0 ? "\n" : "") + ("target " + Quoted(targets[t])) + "\n" +
            Lines(OfTarget(compared, t));
  }
  return text;
}

std::string ComparisonJson(const std::vector<ComparedRecipe>& compared,
                           const std::vector<std::string>& targets) {
  nlohmann::ordered_json json = {{"compared", Entries(compared)}};
  for (std::size_t t = 0; t < compared.front().scores.of_target.size(); ++t)
    json["targets"][targets[t]] = Entries(OfTarget(compared, t));
  return JsonText(json, 2) + "\n";
}

}  // namespace fathom::cli
