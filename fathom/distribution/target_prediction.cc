#include "fathom/distribution/target_prediction.h"

namespace fathom {

namespace {

Prediction RowsFrom(const Prediction& prediction, const std::vector<Index>& rows) {
  Prediction part;
  part.weights = prediction.weights;
  part.observations = prediction.observations;
  part.scales = prediction.scales;
  for (const Moments& component : prediction.components)
    part.components.emplace_back(component.mean(rows, Eigen::all), component.var(rows, Eigen::all));
  return part;
}

}  // namespace

Index RowsOf(const TargetPrediction& prediction) {
  const auto* classes = std::get_if<ClassPrediction>(&prediction);
  return classes ? classes->probability.rows() : std::get<Prediction>(prediction).rows();
}

bool IsFinite(const TargetPrediction& prediction) {
  if (const auto* classes = std::get_if<ClassPrediction>(&prediction))
    return classes->probability.allFinite();
  const Moments y = std::get<Prediction>(prediction).MixtureMoments();
  return y.mean.allFinite() && y.var.allFinite();
}

TargetPrediction Subset(const TargetPrediction& prediction, const std::vector<Index>& rows) {
  if (const auto* classes = std::get_if<ClassPrediction>(&prediction))
    return ClassPrediction{classes->probability(rows, Eigen::all)};
  return RowsFrom(std::get<Prediction>(prediction), rows);
}

std::vector<Index> PredictedClasses(const Matrix& probability) {
  std::vector<Index> predicted(static_cast<std::size_t>(probability.rows()));
  for (Index n = 0; n < probability.rows(); ++n) probability.row(n).maxCoeff(&predicted[n]);
  return predicted;
}

}  // namespace fathom
