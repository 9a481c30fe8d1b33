// The rows of a prediction together; predictor.cc has each row alone.
#include <algorithm>
#include <cmath>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/fitted/by_expert.h"
#include "fathom/fitted/calibration.h"
#include "fathom/fitted/expert.h"
#include "fathom/fitted/predictor.h"

namespace fathom {

namespace {

// Half a gigabyte for each matrix of so many rows; a call needs about ten of them.
constexpr Index kMostRowsTogether = 8192;

// R of a covariance. What has no variance is joined to nothing.
Matrix CorrelationsIn(const Matrix& cov) {
  const Vector inverse = cov.diagonal().unaryExpr(
      [](double variance) { return variance > 0 ? 1 / std::sqrt(variance) : 0.0; });
  Matrix R = inverse.asDiagonal() * cov * inverse.asDiagonal();
  R.diagonal().setOnes();
  return R;
}

// A share of a variance, between 0 and 1.
Matrix ShareOf(const Matrix& part, const Matrix& whole) {
  return part.binaryExpr(
      whole, [](double p, double w) { return w > 0 ? std::clamp(p / w, 0.0, 1.0) : 0.0; });
}

// One Gaussian in place of a mixture over paths, with its mean and variance. What is observed of it
// stays the same.
Prediction Gathered(const Prediction& mixture) {
  if (mixture.size() == 1) return mixture;
  const Prediction functions{mixture.components, mixture.weights};
  Prediction one = Prediction::Gaussian(functions.MixtureMoments());
  if (mixture.observed()) one.observations = {mixture.observations.front()};
  return one;
}

}  // namespace

JointPart ModelPredictor::JoinRows(std::size_t group, const Prediction& y, const Prediction& f,
                                   std::vector<Matrix> correlations) const {
  JointPart part;
  part.weight = WeightOf(groups_[group].members);
  part.rows = y.observed() || f.size() > 1 ? Gathered(y) : y;
  const Matrix f_var = f.Variance();
  for (const Moments& component : part.rows.components) {
    part.share.push_back(y.observed() ? Matrix(Matrix::Ones(f_var.rows(), f_var.cols()))
                                      : ShareOf(f_var, component.var));
  }
  part.correlations = std::move(correlations);
  return part;
}

JointPrediction ModelPredictor::PredictJoint(const Moments& inputs,
                                             const PredictOptions& options) const {
  if (!model_.schema().classes.empty())
    ThrowError("the model predicts classes, which have no covariance between rows;",
               " ask for their probabilities");
  if (inputs.rows() > kMostRowsTogether) {
    ThrowError("the covariance of ", inputs.rows(), " rows takes too much memory; ask for at most ",
               kMostRowsTogether, " rows at a time");
  }
  const bool calibrated = !options.latent && model_.calibration() != nullptr;
  const Moments inside = MovedInside(inputs, options.latent);
  PredictOptions latent = options;
  latent.latent = true;
  JointPrediction parts;
  std::vector<Moments> told(groups_.size());
  std::vector<Moments> members;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Prediction y = PredictGroup(g, inside, options, told);
    if (WeightOf(groups_[g].members) > 0) {
      const Prediction f = PredictGroup(g, inside, latent, told);
      std::vector<Matrix> correlations =
          groups_[g].expert->Covariances(RowsFor(g, inside, told).x, options);
      for (Matrix& cov : correlations) cov = CorrelationsIn(cov);
      // The calibration knows the noise, and needs the functions alone.
      parts.parts.push_back(JoinRows(g, calibrated ? f : y, f, std::move(correlations)));
      members.push_back(y.MixtureMoments());
    }
    told[g] = ForOthers(g, inside, y, told);
  }
  if (!calibrated) return parts;

  const std::vector<Matrix> functions = parts.Covariances(pool_);
  Matrix common = parts.Variance();
  const Moments centre = CalibratedCentre(inputs, inside, members, &common);
  const Matrix share = ShareOf(common, centre.var);
  JointPart whole;
  whole.rows = SpreadAndShaped(inputs, centre);
  whole.share.assign(whole.rows.components.size(), share);
  for (const Matrix& cov : functions) whole.correlations.push_back(CorrelationsIn(cov));
  JointPrediction result;
  result.parts.push_back(std::move(whole));
  return result;
}

}  // namespace fathom
