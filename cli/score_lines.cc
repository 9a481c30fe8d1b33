#include "cli/score_lines.h"

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

}  // namespace fathom::cli
