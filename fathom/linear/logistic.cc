#include "fathom/linear/logistic.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"

namespace fathom {

namespace {

Matrix Softmax(Matrix scores) {
  for (Index n = 0; n < scores.rows(); ++n) {
    scores.row(n) = (scores.row(n).array() - scores.row(n).maxCoeff()).exp();
    scores.row(n) /= scores.row(n).sum();
  }
  return scores;
}

Matrix Indicators(const Vector& labels, Index classes) {
  Matrix Y = Matrix::Zero(labels.size(), classes);
  for (Index n = 0; n < labels.size(); ++n) Y(n, static_cast<Index>(labels[n])) = 1;
  return Y;
}

}  // namespace

Logistic FitLogistic(const Moments& x, const Vector& labels, Index classes, double penalty,
                     const Vector& weights) {
  const Index N = x.rows();
  const Index D = x.cols();
  FATHOM_CHECK(N > 0 && labels.size() == N && classes > 1 && penalty > 0);
  const Vector counts = weights.size() > 0 ? weights : Vector(Vector::Ones(N));
  // The intercept is a column of ones, whose penalty keeps the matrix regular and no more.
  Matrix X(N, D + 1);
  X << x.mean, Vector::Ones(N);
  Vector penalties = Vector::Constant(D + 1, penalty);
  penalties[D] = 1e-6;
  Matrix bound = 0.5 * Product(Transposed(X), {counts.asDiagonal() * X});
  bound.diagonal() += penalties;
  if (!CholeskyInPlace(&bound)) throw NumericalError("the inputs of the regression are too large");
  InvertLowerInPlace(&bound);
  Matrix inverse;
  TransposeTimesSelf(bound, &inverse);
  const Matrix Y = Indicators(labels, classes);
  Matrix W = Matrix::Zero(D + 1, classes);
  constexpr int kMostSteps = 300;
  constexpr double kSettled = 1e-5;
  for (int step = 0; step < kMostSteps; ++step) {
    const Matrix pull = counts.asDiagonal() * (Y - Softmax(Product({X}, {W})));
    const Matrix slope = Product(Transposed(X), {pull}) - penalties.asDiagonal() * W;
    const Matrix change = Product({inverse}, {slope});
    W += change;
    if (change.cwiseAbs().maxCoeff() < kSettled) break;
  }
  return {W.topRows(D), W.row(D).transpose()};
}

Matrix LogisticScores(const Logistic& logistic, const Moments& x) {
  // Entry by entry: a row's bits do not depend on the rows beside it.
  Matrix scores =
      Matrix(x.mean.lazyProduct(logistic.weights)).rowwise() + logistic.intercept.transpose();
  const Matrix squares = logistic.weights.cwiseAbs2();
  const Matrix var = x.var.lazyProduct(squares);
  return scores.array() / (1 + std::numbers::pi / 8 * var.array()).sqrt();
}

Matrix LogisticProbabilities(const Logistic& logistic, const Moments& x) {
  return Softmax(LogisticScores(logistic, x));
}

LogisticFit CrossFitLogistic(const Moments& x, const Vector& labels, Index classes,
                             std::span<const std::int32_t> fold_of_row, const Vector& weights) {
  const Index N = x.rows();
  const std::int32_t folds = 1 + *std::max_element(fold_of_row.begin(), fold_of_row.end());
  const auto part = [&](const Vector& all, const std::vector<Index>& rows) {
    return all.size() > 0 ? Vector(all(rows)) : Vector();
  };
  LogisticFit fit;
  double best = -std::numeric_limits<double>::infinity();
  for (const double penalty : {300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1}) {
    Vector log_probability(N);
    for (std::int32_t fold = 0; fold < folds; ++fold) {
      std::vector<Index> train, held_out;
      for (Index n = 0; n < N; ++n) (fold_of_row[n] == fold ? held_out : train).push_back(n);
      const Moments known(x.mean(train, Eigen::all), x.var(train, Eigen::all));
      const Logistic without =
          FitLogistic(known, labels(train), classes, penalty, part(weights, train));
      const Matrix p = LogisticProbabilities(
          without, {x.mean(held_out, Eigen::all), x.var(held_out, Eigen::all)});
      for (std::size_t i = 0; i < held_out.size(); ++i) {
        const Index n = held_out[i];
        const double own = p(static_cast<Index>(i), static_cast<Index>(labels[n]));
        log_probability[n] = std::log(std::max(own, 1e-12));
      }
    }
    const double score = weights.size() > 0 ? weights.dot(log_probability) : log_probability.sum();
    if (!(score > best)) continue;
    best = score;
    fit.penalty = penalty;
    fit.log_probability = log_probability;
  }
  fit.logistic = FitLogistic(x, labels, classes, fit.penalty, weights);
  return fit;
}

}  // namespace fathom
