#include "fathom/neighbour/neighbour_gp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "fathom/base/linalg.h"
#include "fathom/base/random.h"
#include "fathom/neighbour/fit_neighbour_gp.h"
#include "fathom/neighbour/search.h"
#include "tests/support/dense.h"
#include "tests/support/gradient.h"

namespace fathom {
namespace {

constexpr Index kRows = 13;
constexpr Index kColumns = 2;

struct Problem {
  Moments x;
  Matrix y;
  Vector weights;
  std::vector<Index> all;
  Neighbours neighbours;
  NeighbourGp gp;

  NeighbourData data() const {
    return {.x = x, .y = y, .weights = {weights.data(), static_cast<std::size_t>(weights.size())}};
  }
};

Problem MakeProblem(Correlation correlation, bool uncertain) {
  RandomStream stream(7);
  Problem problem;
  problem.x = Moments::Certain(stream.NormalMatrix(kRows, kColumns));
  if (uncertain) problem.x.var = 0.3 * stream.NormalMatrix(kRows, kColumns).cwiseAbs();
  problem.y = stream.NormalMatrix(kRows, 1);
  problem.all.resize(kRows);
  std::iota(problem.all.begin(), problem.all.end(), Index{0});
  problem.gp = {correlation, (Vector(2) << 0.7, 1.6).finished(), 1.3, 0.2};
  const ThreadPool pool(1);
  problem.neighbours =
      NeighbourSearch(problem.x, problem.gp.lengthscales, {}).FindOthers(problem.all, 5, pool);
  return problem;
}

double CorrelationAt(Correlation kind, double r2) {
  const double r = std::sqrt(r2);
  switch (kind) {
    case Correlation::kMatern12:
      return std::exp(-r);
    case Correlation::kMatern32:
      return (1 + std::sqrt(3) * r) * std::exp(-std::sqrt(3) * r);
    case Correlation::kMatern52:
      return (1 + std::sqrt(5) * r + 5 * r2 / 3) * std::exp(-std::sqrt(5) * r);
    case Correlation::kSe:
      return std::exp(-r2 / 2);
  }
  return 0;
}

class EveryCorrelation : public testing::TestWithParam<Correlation> {};

// Mean and variance by the formulas of the header, with dense matrices.
TEST_P(EveryCorrelation, MomentsAgainstTheTextbook) {
  for (const bool uncertain : {false, true}) {
    Problem problem = MakeProblem(GetParam(), uncertain);
    problem.weights = Vector::LinSpaced(kRows, 0.5, 2);
    Vector mean(kRows), var(kRows);
    NeighbourMoments(problem.gp, problem.data(), {problem.x, problem.all, problem.neighbours},
                     mean.data(), var.data());
    const auto covariance = [&](Index a, Index b) {
      double r2 = 0;
      for (Index d = 0; a != b && d < kColumns; ++d) {
        const double difference = problem.x.mean(a, d) - problem.x.mean(b, d);
        r2 += (difference * difference + problem.x.var(a, d) + problem.x.var(b, d)) /
              std::pow(problem.gp.lengthscales[d], 2);
      }
      return problem.gp.variance * CorrelationAt(GetParam(), r2);
    };
    for (Index n = 0; n < kRows; ++n) {
      const Index m = problem.neighbours.cols();
      Matrix K(m, m);
      Vector k(m), y(m);
      for (Index i = 0; i < m; ++i) {
        const Index row = problem.neighbours(n, i);
        k[i] = covariance(n, row);
        y[i] = problem.y(row, 0);
        for (Index j = 0; j < m; ++j) K(i, j) = covariance(row, problem.neighbours(n, j));
        K(i, i) += problem.gp.noise / problem.weights[row];
      }
      const Vector w = SolvePositiveDefinite(K, k);
      EXPECT_NEAR(mean[n], w.dot(y), 1e-10);
      EXPECT_NEAR(var[n], problem.gp.variance + problem.gp.noise - w.dot(k), 1e-10);
    }
  }
}

TEST_P(EveryCorrelation, GradientOfEveryHyperparameter) {
  for (const bool uncertain : {false, true}) {
    Problem problem = MakeProblem(GetParam(), uncertain);
    problem.weights = Vector::LinSpaced(kRows, 0.5, 2);
    const auto at = [&](const Vector& logs) {
      NeighbourGp gp = problem.gp;
      gp.lengthscales = logs.head(kColumns).array().exp();
      gp.variance = std::exp(logs[kColumns]);
      gp.noise = std::exp(logs[kColumns + 1]);
      return gp;
    };
    Vector logs(kColumns + 2);
    logs << problem.gp.lengthscales.array().log().matrix(), std::log(problem.gp.variance),
        std::log(problem.gp.noise);
    NeighbourGradient gradient{.log_lengthscales = Vector::Zero(kColumns)};
    LeaveOneOut(problem.gp, problem.data(), problem.all, problem.neighbours, &gradient);
    Vector packed(kColumns + 2);
    packed << gradient.log_lengthscales, gradient.log_variance, gradient.log_noise;
    ExpectGradientMatches(
        [&](const Vector& point) {
          NeighbourGradient unused{.log_lengthscales = Vector::Zero(kColumns)};
          return LeaveOneOut(at(point), problem.data(), problem.all, problem.neighbours, &unused);
        },
        packed, logs, 1e-7);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryCorrelation,
                         testing::Values(Correlation::kMatern12, Correlation::kMatern32,
                                         Correlation::kMatern52, Correlation::kSe),
                         [](const auto& parameter) { return NameOf(parameter.param); });

// The limit: with all rows as neighbours it is the exact GP without the row, fitted anew.
TEST(NeighbourGp, WithAllRowsIsTheExactGpWithoutTheRow) {
  Problem problem = MakeProblem(Correlation::kMatern32, false);
  const ThreadPool pool(1);
  const Neighbours every = NeighbourSearch(problem.x, problem.gp.lengthscales, {})
                               .FindOthers(problem.all, kRows - 1, pool);
  Vector mean(kRows), var(kRows);
  NeighbourMoments(problem.gp, problem.data(), {problem.x, problem.all, every}, mean.data(),
                   var.data());
  // Leave-one-out of an exact GP in closed form: error = [K^-1 y]_n / [K^-1]_nn.
  Matrix K(kRows, kRows);
  for (Index a = 0; a < kRows; ++a) {
    for (Index b = 0; b < kRows; ++b) {
      const Eigen::ArrayXd difference =
          (problem.x.mean.row(a) - problem.x.mean.row(b)).transpose().array() /
          problem.gp.lengthscales.array();
      K(a, b) =
          problem.gp.variance * CorrelationAt(Correlation::kMatern32, difference.square().sum());
    }
    K(a, a) += problem.gp.noise;
  }
  const Matrix inverse = Inverse(K);
  const Vector alpha = Apply(inverse, problem.y.col(0));
  for (Index n = 0; n < kRows; ++n) {
    EXPECT_NEAR(problem.y(n, 0) - mean[n], alpha[n] / inverse(n, n), 1e-9);
    EXPECT_NEAR(var[n], 1 / inverse(n, n), 1e-9);
  }
}

TEST(NeighbourGp, NeighboursThatAreNotThereChangeNothing) {
  const Problem problem = MakeProblem(Correlation::kMatern12, false);
  Neighbours padded = Neighbours::Constant(kRows, 9, -1);
  padded.leftCols(5) = problem.neighbours;
  Vector mean(kRows), var(kRows), mean_padded(kRows), var_padded(kRows);
  NeighbourMoments(problem.gp, problem.data(), {problem.x, problem.all, problem.neighbours},
                   mean.data(), var.data());
  NeighbourMoments(problem.gp, problem.data(), {problem.x, problem.all, padded}, mean_padded.data(),
                   var_padded.data());
  EXPECT_TRUE(mean.isApprox(mean_padded, 1e-12));
  EXPECT_TRUE(var.isApprox(var_padded, 1e-12));
}

// Edge: rows at one place, hardly any noise.
TEST(NeighbourGp, RowsAtOnePlaceAreNoTrouble) {
  Problem problem = MakeProblem(Correlation::kMatern12, false);
  problem.x.mean.setConstant(0.3);
  problem.gp.noise = 1e-6;
  Vector mean(kRows), var(kRows);
  NeighbourMoments(problem.gp, problem.data(), {problem.x, problem.all, problem.neighbours},
                   mean.data(), var.data());
  EXPECT_TRUE(mean.allFinite());
  EXPECT_GE(var.minCoeff(), problem.gp.noise);
}

// Each view is a target of its own.
TEST(NeighbourGp, ARowSeesItsNeighboursInItsOwnView) {
  const Problem problem = MakeProblem(Correlation::kSe, false);
  Matrix views(kRows, 2);
  views << problem.y, 2 * problem.y;
  std::vector<std::int32_t> view_of_row(kRows, 0);
  view_of_row[3] = 1;
  const NeighbourData data{.x = problem.x, .y = views, .view_of_row = view_of_row};
  Vector plain(kRows), viewed(kRows), var(kRows);
  const NeighbourQueries queries{problem.x, problem.all, problem.neighbours};
  NeighbourMoments(problem.gp, problem.data(), queries, plain.data(), var.data());
  NeighbourMoments(problem.gp, data, queries, viewed.data(), var.data());
  for (Index n = 0; n < kRows; ++n) EXPECT_NEAR(viewed[n], (n == 3 ? 2 : 1) * plain[n], 1e-12);
}

TEST(FitNeighbourGp, FindsTheColumnThatMatters) {
  RandomStream stream(8);
  const Moments x = Moments::Certain(stream.NormalMatrix(300, 4));
  const Matrix y = (3 * x.mean.col(2)).array().sin().matrix() + 0.1 * stream.NormalMatrix(300, 1);
  const NeighbourData data{.x = x, .y = y};
  const ThreadPool pool(1);
  const std::vector<std::int32_t> copies(300, -1);
  const NeighbourGp gp =
      FitNeighbourGp(data, copies, {.correlation = Correlation::kMatern32}, pool);
  for (const Index other : {0, 1, 3}) EXPECT_GT(gp.lengthscales[other], 3 * gp.lengthscales[2]);
  const Moments moments = MomentsFrom(gp, data, FindOthers(gp, data, copies, 32, pool), pool);
  EXPECT_LT((y - moments.mean).norm() / std::sqrt(300), 0.2);
}

// A rough function of one column is hidden behind its nearest rows; a smooth one of six is not.
TEST(EnoughNeighbours, AreFewWhereAFunctionIsRough) {
  RandomStream stream(4);
  const Index N = 500;
  const std::vector<std::int32_t> copies(static_cast<std::size_t>(N), -1);
  const ThreadPool pool(1);
  const auto enough = [&](const NeighbourGp& gp, const Moments& x, const Matrix& y, Index m) {
    const NeighbourData data{.x = x, .y = y};
    const Neighbours near = FindOthers(gp, data, copies, m, pool);
    return EnoughNeighbours(gp, data, near, MomentsFrom(gp, data, near, pool), pool);
  };
  const Moments line = Moments::Certain(stream.NormalMatrix(N, 1));
  const Matrix wave = (3 * line.mean).array().sin().matrix() + 0.1 * stream.NormalMatrix(N, 1);
  const NeighbourGp rough{Correlation::kMatern12, Vector::Constant(1, 0.3), 1, 0.01};
  EXPECT_EQ(enough(rough, line, wave, 64), 32);
  EXPECT_EQ(enough(rough, line, wave, 20), 20);
  const Moments wide = Moments::Certain(stream.NormalMatrix(N, 6));
  const Matrix sum = (0.3 * wide.mean.rowwise().sum()).array().sin();
  const NeighbourGp smooth{Correlation::kSe, Vector::Constant(6, 3), 1, 1e-4};
  EXPECT_EQ(enough(smooth, wide, sum, 64), 64);
}

TEST(FitNeighbourGp, DoesNotDependOnTheThreads) {
  const Problem problem = MakeProblem(Correlation::kMatern12, false);
  const std::vector<std::int32_t> copies(kRows, -1);
  const ThreadPool one(1), three(3);
  const NeighbourGp a = FitNeighbourGp(problem.data(), copies, {.steps = 5}, one);
  const NeighbourGp b = FitNeighbourGp(problem.data(), copies, {.steps = 5}, three);
  EXPECT_EQ(a.lengthscales, b.lengthscales);
  EXPECT_EQ(a.noise, b.noise);
}

// Where v is at most half of s, single precision moves no prediction by more than a millionth of
// its standard deviation.
TEST(NeighbourMoments, SinglePrecisionIsEnoughWhereNoisePrevails) {
  RandomStream stream(3);
  const Moments x = Moments::Certain(stream.NormalMatrix(400, 6));
  const Matrix y = stream.NormalMatrix(400, 1);
  const NeighbourData data{.x = x, .y = y, .certain = true};
  std::vector<Index> all(400);
  std::iota(all.begin(), all.end(), Index{0});
  const ThreadPool pool(1);
  for (const Correlation correlation :
       {Correlation::kMatern12, Correlation::kMatern32, Correlation::kMatern52, Correlation::kSe}) {
    NeighbourGp gp{correlation, Vector::Constant(6, 2), 0.25, 0.5};
    ASSERT_TRUE(SingleIsEnough(gp, data));
    const Neighbours neighbours = NeighbourSearch(x, gp.lengthscales, {}).Find(x, 64, pool);
    Moments wide(400, 1), narrow(400, 1);
    NeighbourMoments(gp, data, {x, all, neighbours}, wide.mean.data(), wide.var.data());
    NeighbourMoments(gp, data, {x, all, neighbours, true}, narrow.mean.data(), narrow.var.data());
    const Eigen::ArrayXd sd = wide.var.array().sqrt();
    EXPECT_GT((narrow.mean - wide.mean).cwiseAbs().maxCoeff(), 0);
    EXPECT_LT(((narrow.mean - wide.mean).array().abs() / sd).maxCoeff(), 1e-6);
    EXPECT_LT(((narrow.var.array().sqrt() - sd).abs() / sd).maxCoeff(), 1e-6);
  }
  NeighbourGp gp{Correlation::kMatern12, Vector::Constant(6, 2), 0.3, 0.5};
  EXPECT_FALSE(SingleIsEnough(gp, data));
  const std::vector<double> twice(400, 2.0);
  const NeighbourData weighted{.x = x, .y = y, .weights = twice};
  gp.variance = 0.25;
  EXPECT_FALSE(SingleIsEnough(gp, weighted));
}

}  // namespace
}  // namespace fathom
