#include "cli/score_lines.h"

#include <nlohmann/json.hpp>

#include "cli/align.h"
#include "fathom/io/json_value.h"

namespace fathom::cli {

nlohmann::ordered_json ScoresJson(const Evaluation& scores) {
  nlohmann::ordered_json json;
  for (const auto& [kind, value] : NamedScores(scores)) json[kind->key] = ToJson(value);
  return json;
}

void AddConfusion(const std::vector<std::string>& classes, const Evaluation& scores,
                  nlohmann::ordered_json* json) {
  const ClassScores* of_classes = ClassScoresOf(scores);
  if (of_classes == nullptr) return;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& row : of_classes->confusion.rowwise())
    rows.push_back(std::vector<Index>(row.begin(), row.end()));
  (*json)["classes"] = classes;
  (*json)["confusion"] = rows;
}

std::string ConfusionText(const std::vector<std::string>& classes, const Evaluation& scores) {
  const ClassScores* of_classes = ClassScoresOf(scores);
  if (of_classes == nullptr) return "";
  std::vector<std::vector<std::string>> rows = {{"true \\ predicted"}};
  rows[0].insert(rows[0].end(), classes.begin(), classes.end());
  for (std::size_t c = 0; c < classes.size(); ++c) {
    rows.push_back({classes[c]});
    for (const Index count : of_classes->confusion.row(static_cast<Index>(c)))
      rows.back().push_back(std::to_string(count));
  }
  for (auto& row : rows) row.emplace_back();  // Align sets the last column to the left
  return "\n" + Align(rows);
}

}  // namespace fathom::cli
