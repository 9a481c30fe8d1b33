#include "fathom/fit/linear_baseline.h"

#include <algorithm>
#include <cmath>

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"

namespace fathom {
namespace {

// Standardised inputs and a column of ones, by the means and deviations of the training rows.
class Features {
 public:
  explicit Features(const Matrix& train)
      : mean_(Vector::Zero(train.cols())), scale_(Vector::Ones(train.cols())) {
    for (Index c = 0; c < train.cols(); ++c) {
      const auto known = train.col(c).array().isNaN() == false;
      const auto count = static_cast<double>(known.count());
      if (count == 0) continue;
      mean_[c] = known.select(train.col(c).array(), 0.0).sum() / count;
      const double squares =
          known.select((train.col(c).array() - mean_[c]).square(), 0.0).sum() / count;
      if (squares > 0) scale_[c] = std::sqrt(squares);
    }
  }

  Matrix Of(const Matrix& inputs) const {
    Matrix features = Matrix::Ones(inputs.rows(), inputs.cols() + 1);
    for (Index c = 0; c < inputs.cols(); ++c) {
      const auto column = inputs.col(c).array();
      features.col(c) = column.isNaN().select(0.0, (column - mean_[c]) / scale_[c]);
    }
    return features;
  }

 private:
  Vector mean_, scale_;
};

}  // namespace

namespace {

// Predicts one target, from the rows where it is known.
Moments PredictTarget(const Dataset& train, Index target, const Dataset& test) {
  std::vector<Index> known;
  for (Index n = 0; n < train.rows(); ++n) {
    if (!std::isnan(train.targets()(n, target))) known.push_back(n);
  }
  const Matrix inputs = train.inputs().mean(known, Eigen::all);
  const Vector y = train.targets()(known, target);
  const Features features(inputs);
  const Matrix X = features.Of(inputs);
  const auto rows = static_cast<double>(X.rows());
  const Vector weights =
      train.weights().size() > 0 ? Vector(train.weights()(known)) : Vector(Vector::Ones(X.rows()));
  const Matrix weighted = weights.asDiagonal() * X;
  Matrix A = Product(Transposed(X), {weighted});
  A.diagonal().array() += 1e-8 * rows;  // columns may repeat each other
  Matrix L_inverse, scratch;
  if (!CholeskyWithInverse(&A, &L_inverse, &scratch))
    throw NumericalError("least squares: the inputs are not finite");
  const Vector w = L_inverse.transpose() * (L_inverse * (weighted.transpose() * y));
  const Vector residuals = y - X * w;
  const double freedom = std::max(rows - static_cast<double>(X.cols()), 1.0);
  const Matrix F = features.Of(test.inputs().mean);
  const Vector spread = Product({F}, LowerTransposed(L_inverse)).rowwise().squaredNorm();
  const double noise = (weights.array() * residuals.array().square()).sum() / freedom;
  const double least = 1e-12 * (1 + y.squaredNorm() / rows);
  return {F * w, std::max(noise, least) * (1 + spread.array()).matrix()};
}

}  // namespace

Prediction PredictLinear(const Dataset& train, const Dataset& test) {
  const Index targets = train.targets().cols();
  Moments moments(test.rows(), targets);
  for (Index t = 0; t < targets; ++t) {
    const Moments own = PredictTarget(train, t, test);
    moments.mean.col(t) = own.mean.col(0);
    moments.var.col(t) = own.var.col(0);
  }
  return Prediction::Gaussian(std::move(moments));
}

FoldScores CrossValidateLinear(const Dataset& dataset, const std::vector<Split>& splits) {
  std::vector<std::vector<Evaluation>> folds;
  for (const Split& split : splits) {
    const Dataset held_out = Subset(dataset, split.held_out);
    folds.push_back(
        EvaluateEach(TargetPrediction(PredictLinear(Subset(dataset, split.train), held_out)),
                     held_out.targets()));
  }
  return SummarizeEach(folds);
}

}  // namespace fathom
