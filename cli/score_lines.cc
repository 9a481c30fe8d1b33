#include "cli/score_lines.h"

#include <nlohmann/json.hpp>

#include "cli/align.h"
#include "fathom/recipe/json_value.h"

namespace fathom::cli {

std::vector<ScoreLine> ScoreLines(const Scores& scores) {
  return {
      {"rmse", scores.rmse, "root mean squared error; smaller is better"},
      {"mae", scores.mae, "mean absolute error; smaller is better"},
      {"mean_log_likelihood", scores.mean_log_likelihood,
       "mean log density of the target; larger is better"},
      {"crps", scores.crps, "continuous ranked probability score; smaller is better"},
      {"coverage_50", scores.coverage_50, "share of targets in the 50 % interval; ideal is 0.5"},
      {"coverage_90", scores.coverage_90, "share of targets in the 90 % interval; ideal is 0.9"},
      {"coverage_95", scores.coverage_95, "share of targets in the 95 % interval; ideal is 0.95"},
      {"calibration_error", scores.calibration_error,
       "mean gap between promised and true coverage; ideal is 0"},
      {"sharpness", scores.sharpness, "mean predicted standard deviation"},
      {"interval_score_95", scores.interval_score_95,
       "width of the 95 % interval plus a penalty for misses; smaller is better"},
  };
}

std::vector<ScoreLine> ScoreLines(const ClassScores& scores) {
  return {
      {"accuracy", scores.accuracy, "share of rows whose predicted class is right"},
      {"mean_log_likelihood", scores.mean_log_likelihood,
       "mean log probability of the true class; larger is better"},
      {"brier", scores.brier, "mean squared error of the probabilities; smaller is better"},
      {"calibration_error", scores.calibration_error,
       "mean gap between the predicted class's probability and how often it is right"},
  };
}

nlohmann::ordered_json ScoresJson(const std::vector<ScoreLine>& lines) {
  nlohmann::ordered_json json;
  for (const ScoreLine& line : lines) json[line.key] = ToJson(line.value);
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
