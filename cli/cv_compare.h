// 'fathom cv --compare': several recipes on the same folds.
#ifndef FATHOM_CLI_CV_COMPARE_H_
#define FATHOM_CLI_CV_COMPARE_H_

#include <string>
#include <vector>

#include "cli/cli11_fwd.h"
#include "fathom/evaluate/evaluation.h"
#include "fathom/recipe/recipe.h"

namespace fathom::cli {

struct ComparedRecipe {
  std::string words;  // as the user gave them
  FoldScores scores;
};

// The recipe of the command with the options in `words` on top; "default" has none. Throws Error
// for words that are no options of a recipe.
Recipe RecipeOf(const CLI::App& command, const std::string& words);

// A line per recipe, for people or as one JSON object. Several targets have their own lines.
std::string ComparisonText(const std::vector<ComparedRecipe>& compared,
                           const std::vector<std::string>& targets);
std::string ComparisonJson(const std::vector<ComparedRecipe>& compared,
                           const std::vector<std::string>& targets);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_CV_COMPARE_H_
