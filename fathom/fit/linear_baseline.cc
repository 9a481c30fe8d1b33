#include "fathom/fit/linear_baseline.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

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

Prediction PredictLinear(const Dataset& train, const Dataset& test) {
  const Features features(train.inputs().mean);
  const Matrix X = features.Of(train.inputs().mean);
  const auto rows = static_cast<double>(X.rows());
  const Vector weights = train.weights().size() > 0 ? train.weights() : Vector::Ones(X.rows());
  Matrix A = X.transpose() * weights.asDiagonal() * X;
  A.diagonal().array() += 1e-8 * rows;  // columns may repeat each other
  const Eigen::LLT<Matrix> cholesky(A);
  const Matrix W = cholesky.solve(X.transpose() * weights.asDiagonal() * train.targets());
  const Matrix residuals = train.targets() - X * W;
  const double freedom = std::max(rows - static_cast<double>(X.cols()), 1.0);
  const Matrix F = features.Of(test.inputs().mean);
  const Vector spread = (F * cholesky.solve(F.transpose())).diagonal();
  Moments moments(F * W, Matrix(F.rows(), W.cols()));
  for (Index t = 0; t < W.cols(); ++t) {
    const double noise = (weights.array() * residuals.col(t).array().square()).sum() / freedom;
    const double least = 1e-12 * (1 + train.targets().col(t).squaredNorm() / rows);
    moments.var.col(t) = std::max(noise, least) * (1 + spread.array());
  }
  return Prediction::Gaussian(std::move(moments));
}

FoldScores CrossValidateLinear(const Dataset& dataset, const std::vector<Split>& splits) {
  std::vector<Evaluation> folds;
  for (const Split& split : splits) {
    const Dataset held_out = Subset(dataset, split.held_out);
    folds.push_back(
        Evaluate(TargetPrediction(PredictLinear(Subset(dataset, split.train), held_out)),
                 held_out.targets()));
  }
  return SummarizeFolds(std::move(folds));
}

}  // namespace fathom
