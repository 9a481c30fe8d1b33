// Scores as JSON and as text, the same in every command.
#ifndef FATHOM_CLI_SCORE_LINES_H_
#define FATHOM_CLI_SCORE_LINES_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "fathom/evaluate/score_kinds.h"

namespace fathom::cli {

// {"rmse": ..., "mae": ..., ...}
nlohmann::ordered_json ScoresJson(const std::vector<NamedScore>& scores);

// Of classes: {"classes": [...], "confusion": [[...], ...]}, rows of true and columns of predicted
// classes; and the same as an aligned table for people.
nlohmann::ordered_json ConfusionJson(const std::vector<std::string>& classes,
                                     const ClassScores& scores);
std::string ConfusionTable(const std::vector<std::string>& classes, const ClassScores& scores);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_SCORE_LINES_H_
