#include "fathom/evaluate/class_metrics.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fathom/base/error.h"

namespace fathom {

namespace {

constexpr int kBins = 10;

// Rows whose predicted class has about the same probability.
struct Bin {
  double probability = 0, right = 0;  // sums over rows
};

}  // namespace

std::vector<Index> PredictedClasses(const Matrix& probability) {
  std::vector<Index> predicted(static_cast<std::size_t>(probability.rows()));
  for (Index n = 0; n < probability.rows(); ++n) probability.row(n).maxCoeff(&predicted[n]);
  return predicted;
}

ClassScores EvaluateClasses(const Matrix& probability, const Matrix& labels) {
  const Index classes = probability.cols();
  if (labels.rows() != probability.rows() || labels.cols() != 1) {
    ThrowError("labels must be ", probability.rows(), " x 1 like the probabilities, not ",
               labels.rows(), " x ", labels.cols());
  }
  const std::vector<Index> predicted = PredictedClasses(probability);
  std::array<Bin, kBins> bins;
  ClassScores scores;
  scores.confusion.setZero(classes, classes);
  for (Index n = 0; n < labels.rows(); ++n) {
    const double label = labels(n, 0);
    if (std::isnan(label)) continue;
    if (label != std::floor(label) || label < 0 || label >= static_cast<double>(classes))
      ThrowError("label ", label, " of row ", n, " is none of the ", classes, " classes");
    const auto truth = static_cast<Index>(label);
    const bool right = predicted[n] == truth;
    const double confidence = probability(n, predicted[n]);
    ++scores.rows;
    ++scores.confusion(truth, predicted[n]);
    scores.mean_log_likelihood += std::log(probability(n, truth));
    scores.accuracy += right;
    // |p - e|^2 with e the unit vector of the true class.
    scores.brier += probability.row(n).squaredNorm() - 2 * probability(n, truth) + 1;
    Bin& bin = bins[std::clamp(static_cast<int>(kBins * confidence), 0, kBins - 1)];
    bin.probability += confidence;
    bin.right += right;
  }
  if (scores.rows == 0)
    ThrowError("there is no row with a target to score; give rows whose classes are known");
  const auto rows = static_cast<double>(scores.rows);
  scores.mean_log_likelihood /= rows;
  scores.accuracy /= rows;
  scores.brier /= rows;
  for (const Bin& bin : bins)
    scores.calibration_error += std::abs(bin.right - bin.probability) / rows;
  return scores;
}

}  // namespace fathom
