// Scores as JSON and as text, the same in every command.
#ifndef FATHOM_CLI_SCORE_LINES_H_
#define FATHOM_CLI_SCORE_LINES_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "fathom/evaluate/evaluation.h"

namespace fathom::cli {

// {"rmse": ..., "mae": ..., ...}
nlohmann::ordered_json ScoresJson(const Evaluation& scores);

// Rows counted by their true and predicted class; nothing for scores of numbers. As JSON, adds
// {"classes": [...], "confusion": [[...], ...]}, rows of true and columns of predicted classes. As
// text, an aligned table with a blank line before it.
void AddConfusion(const std::vector<std::string>& classes, const Evaluation& scores,
                  nlohmann::ordered_json* json);
std::string ConfusionText(const std::vector<std::string>& classes, const Evaluation& scores);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_SCORE_LINES_H_
