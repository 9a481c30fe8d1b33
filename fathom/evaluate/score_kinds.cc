#include "fathom/evaluate/score_kinds.h"

namespace fathom {

namespace {

using enum Better;

// clang-format off
constexpr ScoreField<Scores> kNumberScores[] = {
    {{"rmse", "root mean squared error; smaller is better",
      kSmaller, true, "rmse", "RMSE", "Test RMSE"}, &Scores::rmse},
    {{"mae", "mean absolute error; smaller is better",
      kSmaller, true, "mae"}, &Scores::mae},
    {{"mean_log_likelihood", "mean log density of the target; larger is better",
      kLarger, true, "log_likelihood", "log likelihood", "Mean test log likelihood"},
     &Scores::mean_log_likelihood},
    {{"crps", "continuous ranked probability score; smaller is better",
      kSmaller, true, "crps"}, &Scores::crps},
    {{"coverage_50", "share of targets in the 50 % interval; ideal is 0.5",
      kOnTarget, true, "coverage_50"}, &Scores::coverage_50},
    {{"coverage_90", "share of targets in the 90 % interval; ideal is 0.9",
      kOnTarget, false, "coverage_90"}, &Scores::coverage_90},
    {{"coverage_95", "share of targets in the 95 % interval; ideal is 0.95",
      kOnTarget, true, "coverage_95"}, &Scores::coverage_95},
    {{"calibration_error", "mean gap between promised and true coverage; ideal is 0",
      kSmaller, true, "calibration_error"}, &Scores::calibration_error},
    {{"sharpness", "mean predicted standard deviation",
      kSmaller, false, "sharpness"}, &Scores::sharpness},
    {{"interval_score_95",
      "width of the 95 % interval plus a penalty for misses; smaller is better",
      kSmaller, false, "interval_score_95"}, &Scores::interval_score_95},
};

constexpr ScoreField<ClassScores> kClassScores[] = {
    {{"accuracy", "share of rows whose predicted class is right",
      kLarger, true, "accuracy", "accuracy", "Test accuracy"}, &ClassScores::accuracy},
    {{"mean_log_likelihood", "mean log probability of the true class; larger is better",
      kLarger, true, "log_likelihood", "log likelihood", "Mean test log likelihood"},
     &ClassScores::mean_log_likelihood},
    {{"brier", "mean squared error of the probabilities; smaller is better",
      kSmaller, true, "brier"}, &ClassScores::brier},
    {{"calibration_error",
      "mean gap between the predicted class's probability and how often it is right",
      kSmaller, true, "calibration_error"}, &ClassScores::calibration_error},
};
// clang-format on

}  // namespace

template <>
std::span<const ScoreField<Scores>> ScoreFields() {
  return kNumberScores;
}
template <>
std::span<const ScoreField<ClassScores>> ScoreFields() {
  return kClassScores;
}

const ScoreKind* FindScore(std::string_view name) {
  for (const ScoreKind& kind : kNumberScores) {
    if (kind.IsCalled(name)) return &kind;
  }
  for (const ScoreKind& kind : kClassScores) {
    if (kind.IsCalled(name)) return &kind;
  }
  return nullptr;
}

std::vector<const ScoreKind*> TabledScores() {
  return {FindScore("mean_log_likelihood"), FindScore("rmse"), FindScore("accuracy")};
}

}  // namespace fathom
