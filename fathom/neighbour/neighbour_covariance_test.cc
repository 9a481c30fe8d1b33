#include "fathom/neighbour/neighbour_covariance.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "fathom/base/linalg.h"
#include "fathom/base/random.h"
#include "fathom/neighbour/search.h"
#include "tests/support/dense.h"

namespace fathom {
namespace {

constexpr Index kTraining = 40, kQueries = 11;

struct Setting {
  Moments x, queries;
  Matrix y;
  Vector weights;
  NeighbourGp gp;

  explicit Setting(Correlation correlation, bool uncertain) {
    RandomStream stream(11);
    x = Moments::Certain(stream.NormalMatrix(kTraining, 2));
    queries = Moments::Certain(stream.NormalMatrix(kQueries, 2));
    if (uncertain) {
      x.var = 0.2 * stream.NormalMatrix(kTraining, 2).cwiseAbs();
      queries.var = 0.2 * stream.NormalMatrix(kQueries, 2).cwiseAbs();
    }
    y = stream.NormalMatrix(kTraining, 1);
    weights = Vector::Constant(kTraining, 1);
    weights[3] = 4;
    gp = {correlation, Vector(Eigen::Vector2d(0.8, 1.5)), 1.4, 0.1};
  }

  NeighbourData data() const {
    return {.x = x, .y = y, .weights = {weights.data(), static_cast<std::size_t>(kTraining)}};
  }
  Neighbours Find(Index m) const {
    return NeighbourSearch(x, gp.lengthscales, {}).Find(queries, m, ThreadPool(1));
  }
  Matrix Covariance(Index m, int threads = 1) const {
    return NeighbourCovariance(gp, data(), queries, Find(m), ThreadPool(threads));
  }
};

TEST(NeighbourCovariance, HasTheVariancesOfThePredictionAndIsPositive) {
  for (const Correlation kind :
       {Correlation::kMatern12, Correlation::kMatern32, Correlation::kMatern52, Correlation::kSe}) {
    for (const bool uncertain : {false, true}) {
      const Setting setting(kind, uncertain);
      const Matrix cov = setting.Covariance(6);
      std::vector<Index> all(kQueries);
      std::iota(all.begin(), all.end(), Index{0});
      Vector mean(kQueries), var(kQueries);
      NeighbourMoments(setting.gp, setting.data(), {setting.queries, all, setting.Find(6)},
                       mean.data(), var.data());
      for (Index n = 0; n < kQueries; ++n)
        EXPECT_NEAR(cov(n, n), var[n] - setting.gp.noise, 1e-9) << NameOf(kind);
      EXPECT_GT(SymmetricEigensystem(cov).values[0], -1e-9) << NameOf(kind);
      EXPECT_GT(cov.cwiseAbs().sum(), cov.diagonal().sum() * 1.01);
    }
  }
}

TEST(NeighbourCovariance, IsTheOneOfTheWholeGpWhereAllRowsAreNeighbours) {
  const Setting setting(Correlation::kSe, false);
  const auto gram = [&](const Matrix& a, const Matrix& b) {
    const Matrix scale = setting.gp.lengthscales.cwiseInverse().asDiagonal();
    Matrix k(a.rows(), b.rows());
    for (Index i = 0; i < a.rows(); ++i) {
      for (Index j = 0; j < b.rows(); ++j)
        k(i, j) =
            setting.gp.variance * std::exp(-0.5 * ((a.row(i) - b.row(j)) * scale).squaredNorm());
    }
    return k;
  };
  Matrix K = gram(setting.x.mean, setting.x.mean);
  K.diagonal() += setting.gp.noise * setting.weights.cwiseInverse();
  const Matrix k = gram(setting.queries.mean, setting.x.mean);
  const Matrix expected =
      gram(setting.queries.mean, setting.queries.mean) - TimesTransposed(Times(k, Inverse(K)), k);
  EXPECT_LT((setting.Covariance(kTraining) - expected).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(NeighbourCovariance, ThreadsDoNotChangeABit) {
  const Setting setting(Correlation::kMatern32, true);
  EXPECT_EQ(setting.Covariance(5, 3), setting.Covariance(5, 1));
}

}  // namespace
}  // namespace fathom
