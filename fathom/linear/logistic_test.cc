#include "fathom/linear/logistic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fathom/base/random.h"

namespace fathom {
namespace {

struct LabelledTable {
  Moments x;
  Vector labels;
  std::vector<std::int32_t> fold_of_row;
};

// Classes by softmax of x W + b.
LabelledTable Draw(Index N, const Matrix& W, const Vector& b) {
  RandomStream stream(8);
  LabelledTable table{Moments::Certain(stream.NormalMatrix(N, W.rows())), Vector(N), {}};
  for (Index n = 0; n < N; ++n) {
    Vector p = ((table.x.mean.row(n) * W).transpose() + b).array().exp();
    double u = stream.Uniform() * p.sum();
    Index label = 0;
    while (label + 1 < p.size() && (u -= p[label]) > 0) ++label;
    table.labels[n] = static_cast<double>(label);
    table.fold_of_row.push_back(static_cast<std::int32_t>(n % 5));
  }
  return table;
}

double PenalisedFit(const Logistic& l, const LabelledTable& t, double penalty) {
  const Matrix p = LogisticProbabilities(l, t.x);
  double sum = -penalty / 2 * l.weights.squaredNorm();
  for (Index n = 0; n < p.rows(); ++n) sum += std::log(p(n, static_cast<Index>(t.labels[n])));
  return sum;
}

TEST(Logistic, IsTheMaximum) {
  const LabelledTable table = Draw(300, (Matrix(2, 3) << 1, -1, 0, 0.5, 0, -2).finished(),
                                   (Vector(3) << 0.3, 0, -0.5).finished());
  constexpr double kPenalty = 2;
  const Logistic fit = FitLogistic(table.x, table.labels, 3, kPenalty);
  const double best = PenalisedFit(fit, table, kPenalty);
  for (Index i = 0; i < fit.weights.size(); ++i) {
    for (const double step : {-1e-2, 1e-2}) {
      Logistic other = fit;
      other.weights.data()[i] += step;
      EXPECT_LT(PenalisedFit(other, table, kPenalty), best);
    }
  }
  for (Index c = 0; c < 3; ++c) {
    Logistic other = fit;
    other.intercept[c] += 0.02;
    EXPECT_LT(PenalisedFit(other, table, kPenalty), best);
  }
}

TEST(Logistic, FindsSlopesAndIntercept) {
  const LabelledTable table =
      Draw(20000, (Matrix(1, 2) << 0, 1.5).finished(), (Vector(2) << 0, -1).finished());
  const Logistic fit = FitLogistic(table.x, table.labels, 2, 0.1);
  EXPECT_NEAR(fit.weights(0, 1) - fit.weights(0, 0), 1.5, 0.06);
  EXPECT_NEAR(fit.intercept[1] - fit.intercept[0], -1, 0.05);
}

// Classes that a line tells apart stay finite, and a weight is so many rows.
TEST(Logistic, SeparableAndWeighted) {
  LabelledTable table{Moments::Certain((Matrix(4, 1) << -2, -1, 1, 2).finished()),
                      (Vector(4) << 0, 0, 1, 1).finished(),
                      {0, 1, 0, 1}};
  const Logistic fit = FitLogistic(table.x, table.labels, 2, 0.1);
  EXPECT_TRUE(fit.weights.allFinite());
  EXPECT_GT(LogisticProbabilities(fit, table.x)(3, 1), 0.9);
  const Moments twice = Moments::Certain((Matrix(5, 1) << -2, -1, 1, 2, 2).finished());
  const Logistic repeated = FitLogistic(twice, (Vector(5) << 0, 0, 1, 1, 1).finished(), 2, 0.1);
  const Logistic weighted =
      FitLogistic(table.x, table.labels, 2, 0.1, (Vector(4) << 1, 1, 1, 2).finished());
  EXPECT_NEAR((repeated.weights - weighted.weights).norm(), 0, 1e-3);
}

// A cell of which nothing is known leaves more even probabilities than its mean would.
TEST(Logistic, UncertainCellsEvenOut) {
  const Logistic logistic{(Matrix(1, 2) << -3, 3).finished(), Vector::Zero(2)};
  Moments x = Moments::Certain(Matrix::Ones(2, 1));
  x.var(1, 0) = 1;
  const Matrix p = LogisticProbabilities(logistic, x);
  EXPECT_GT(p(0, 1), p(1, 1));
  EXPECT_GT(p(1, 1), 0.5);
}

TEST(Logistic, LeftOutRowsChooseThePenalty) {
  // Nothing to learn from twenty columns: a strong penalty.
  const LabelledTable none = Draw(100, Matrix::Zero(20, 2), Vector::Zero(2));
  const LogisticFit weak = CrossFitLogistic(none.x, none.labels, 2, none.fold_of_row);
  EXPECT_GE(weak.penalty, 100);
  EXPECT_NEAR(weak.log_probability.mean(), std::log(0.5), 0.03);
  Matrix steep = Matrix::Zero(20, 2);
  steep(0, 1) = 8;
  const LabelledTable clear = Draw(400, steep, Vector::Zero(2));
  const LogisticFit strong = CrossFitLogistic(clear.x, clear.labels, 2, clear.fold_of_row);
  EXPECT_LE(strong.penalty, 3);
  EXPECT_GT(strong.log_probability.mean(), -0.25);
}

}  // namespace
}  // namespace fathom
