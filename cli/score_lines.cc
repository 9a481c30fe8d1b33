#include "cli/score_lines.h"

#include <nlohmann/json.hpp>

#include "cli/align.h"
#include "fathom/io/json_value.h"

namespace fathom::cli {

nlohmann::ordered_json ScoresJson(const std::vector<NamedScore>& scores) {
  nlohmann::ordered_json json;
  for (const NamedScore& score : scores) json[score.kind->key] = ToJson(score.value);
  return json;
}

nlohmann::ordered_json ConfusionJson(const std::vector<std::string>& classes,
                                     const ClassScores& scores) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& row : scores.confusion.rowwise())
    rows.push_back(std::vector<Index>(row.begin(), row.end()));
  return {{"classes", classes}, {"confusion", rows}};
}

std::string ConfusionTable(const std::vector<std::string>& classes, const ClassScores& scores) {
  std::vector<std::vector<std::string>> rows = {{"true \\ predicted"}};
  rows[0].insert(rows[0].end(), classes.begin(), classes.end());
  for (std::size_t c = 0; c < classes.size(); ++c) {
    rows.push_back({classes[c]});
    for (const Index count : scores.confusion.row(static_cast<Index>(c)))
      rows.back().push_back(std::to_string(count));
  }
  for (auto& row : rows) row.emplace_back();  // Align sets the last column to the left
  return Align(rows);
}

}  // namespace fathom::cli
