#include "fathom/evaluate/class_metrics.h"

#include <algorithm>
#include <cmath>

#include "fathom/base/error.h"
#include "fathom/distribution/target_prediction.h"

namespace fathom {

void ClassScoreSums::Add(const Matrix& probability, const Matrix& labels) {
  const Index classes = probability.cols();
  if (labels.rows() != probability.rows() || labels.cols() != 1) {
    ThrowError("labels must be ", probability.rows(), " x 1 like the probabilities, not ",
               labels.rows(), " x ", labels.cols());
  }
  if (sums_.confusion.size() == 0) sums_.confusion.setZero(classes, classes);
  const std::vector<Index> predicted = PredictedClasses(probability);
  constexpr auto kBins = static_cast<int>(std::tuple_size_v<decltype(bins_)>);
  for (Index n = 0; n < labels.rows(); ++n) {
    const double label = labels(n, 0);
    if (std::isnan(label)) continue;
    if (label != std::floor(label) || label < 0 || label >= static_cast<double>(classes))
      ThrowError("label ", label, " of row ", n, " is none of the ", classes, " classes");
    const auto truth = static_cast<Index>(label);
    const bool right = predicted[n] == truth;
    const double confidence = probability(n, predicted[n]);
    ++sums_.rows;
    ++sums_.confusion(truth, predicted[n]);
    sums_.mean_log_likelihood += std::log(probability(n, truth));
    sums_.accuracy += right;
    // |p - e|^2 with e the unit vector of the true class.
    sums_.brier += probability.row(n).squaredNorm() - 2 * probability(n, truth) + 1;
    ReliabilityBin& bin = bins_[std::clamp(static_cast<int>(kBins * confidence), 0, kBins - 1)];
    bin.probability += confidence;
    bin.right += right;
    ++bin.rows;
  }
}

ClassScores ClassScoreSums::Means() const {
  if (sums_.rows == 0)
    ThrowError("there is no row with a target to score; give rows whose classes are known");
  const auto rows = static_cast<double>(sums_.rows);
  ClassScores scores = sums_;
  scores.mean_log_likelihood /= rows;
  scores.accuracy /= rows;
  scores.brier /= rows;
  for (const ReliabilityBin& bin : bins_)
    scores.calibration_error += std::abs(bin.right - bin.probability) / rows;
  return scores;
}

std::vector<ReliabilityBin> ClassScoreSums::Reliability() const {
  std::vector<ReliabilityBin> means;
  for (const ReliabilityBin& bin : bins_) {
    if (bin.rows == 0) continue;
    const auto rows = static_cast<double>(bin.rows);
    means.push_back({bin.probability / rows, bin.right / rows, bin.rows});
  }
  return means;
}

ClassScores EvaluateClasses(const Matrix& probability, const Matrix& labels) {
  ClassScoreSums sums;
  sums.Add(probability, labels);
  return sums.Means();
}

}  // namespace fathom
