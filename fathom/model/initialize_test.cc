#include "fathom/model/initialize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "fathom/base/error.h"
#include "fathom/base/threads.h"
#include "fathom/inference/aep_energy.h"
#include "fathom/inference/predict.h"
#include "tests/support/random_model.h"

namespace fathom {
namespace {

double SmallestDistance(const Matrix& rows) {
  double smallest = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index j = 0; j < i; ++j) smallest = std::min(smallest, (rows.row(i) - rows.row(j)).norm());
  }
  return smallest;
}

TEST(KMeans, FindsSeparateClusters) {
  RandomStream stream(1);
  Matrix x(90, 2);
  const Matrix centres = (Matrix(3, 2) << 0, 0, 10, 0, 0, 10).finished();
  for (Index n = 0; n < 90; ++n) x.row(n) = centres.row(n % 3) + 0.1 * stream.NormalMatrix(1, 2);
  const Matrix found = KMeans(x, 3, 10, 1);
  for (Index c = 0; c < 3; ++c) {
    const double nearest = (found.rowwise() - centres.row(c)).rowwise().norm().minCoeff();
    EXPECT_LT(nearest, 0.1) << c;
  }
}

TEST(KMeans, LowersTheDistanceToTheNearestCentre) {
  RandomStream stream(2);
  const Matrix x = stream.NormalMatrix(200, 2);
  const auto cost = [&](const Matrix& centres) {
    double sum = 0;
    for (Index n = 0; n < x.rows(); ++n)
      sum += (centres.rowwise() - x.row(n)).rowwise().squaredNorm().minCoeff();
    return sum;
  };
  const double before = cost(KMeans(x, 8, 0, 3));
  const double after = cost(KMeans(x, 8, 20, 3));
  EXPECT_LT(after, 0.95 * before);
}

TEST(KMeans, FewerDistinctRowsThanCentres) {
  Matrix x(12, 2);
  for (Index n = 0; n < 12; ++n) x.row(n) << static_cast<double>(n % 3), 1;
  const Matrix centres = KMeans(x, 7, 10, 1);
  EXPECT_TRUE(centres.allFinite());
  EXPECT_GT(SmallestDistance(centres), 0) << "no two coincide";
  for (Index c = 0; c < 3; ++c) {
    const Eigen::RowVectorXd row = x.row(c);
    EXPECT_EQ((centres.rowwise() - row).rowwise().norm().minCoeff(), 0) << "row " << c;
  }
}

TEST(KMeans, AllRowsTheSame) {
  const Matrix centres = KMeans(Matrix::Constant(5, 3, 2.0), 4, 5, 1);
  EXPECT_TRUE(centres.allFinite());
  EXPECT_GT(SmallestDistance(centres), 0);
}

TEST(KMeans, OneRowAndMoreCentresThanRows) {
  const Matrix centres = KMeans(Matrix::Constant(1, 1, 2.0), 3, 5, 1);
  EXPECT_EQ(centres.rows(), 3);
  EXPECT_GT(SmallestDistance(centres), 0);
}

TEST(KMeans, SameSeedSameCentres) {
  RandomStream stream(3);
  const Matrix x = stream.NormalMatrix(50, 2);
  EXPECT_EQ(KMeans(x, 5, 10, 7), KMeans(x, 5, 10, 7));
  EXPECT_NE(KMeans(x, 5, 10, 7), KMeans(x, 5, 10, 8));
}

TEST(PrincipalLoadings, ScoresHaveUnitVarianceAndAreUncorrelated) {
  RandomStream stream(4);
  const Matrix x = stream.NormalMatrix(100, 4) * Vector{{5, 1, 0.3, 2}}.asDiagonal();
  const Matrix loadings = PrincipalLoadings(x, 4, 1);
  const Matrix scores = (x.rowwise() - x.colwise().mean()) * loadings;
  const Matrix covariance = scores.transpose() * scores / 100.0;
  EXPECT_LT((covariance - Matrix::Identity(4, 4)).cwiseAbs().maxCoeff(), 1e-10);
  // By falling variance: the first direction is that of the widest column.
  Index widest = 0;
  loadings.col(0).cwiseAbs().maxCoeff(&widest);
  EXPECT_EQ(widest, 0);
  const double first_norm = loadings.col(0).norm();
  const double last_norm = loadings.col(3).norm();
  EXPECT_LT(first_norm, last_norm) << "a wide direction needs the smaller loading";
}

TEST(PrincipalLoadings, BeyondTheRankRandomDirectionsOfUnitVariance) {
  RandomStream stream(5);
  const Matrix x = stream.NormalMatrix(60, 2);
  const Matrix loadings = PrincipalLoadings(x, 5, 1);
  ASSERT_EQ(loadings.cols(), 5);
  const Matrix scores = (x.rowwise() - x.colwise().mean()) * loadings;
  for (Index c = 0; c < 5; ++c) EXPECT_NEAR(scores.col(c).squaredNorm() / 60, 1, 1e-10) << c;
  EXPECT_NE(loadings.col(2), loadings.col(3));
}

TEST(PrincipalLoadings, WideTablesHaveTheDirectionsOfTheirTranspose) {
  RandomStream stream(5);
  const Matrix x = stream.NormalMatrix(6, 40);
  const Matrix centred = x.rowwise() - x.colwise().mean();
  const Matrix loadings = PrincipalLoadings(x, 7, 1);
  const Matrix scores = centred * loadings.leftCols(5);  // the rank is 6 - 1
  EXPECT_TRUE((scores.transpose() * scores / 6).isApprox(Matrix::Identity(5, 5), 1e-10));
  const Vector along = centred.transpose() * (centred * loadings.col(0)) / 6;
  const double eigenvalue = along.norm() / loadings.col(0).norm();
  EXPECT_TRUE(along.isApprox(eigenvalue * loadings.col(0), 1e-10));
  for (Index c = 1; c < 5; ++c) EXPECT_GT(loadings.col(c).norm(), loadings.col(c - 1).norm());
  EXPECT_TRUE(loadings.allFinite());
}

TEST(PrincipalLoadings, ConstantColumnsAndOneRow) {
  Matrix x = Matrix::Zero(10, 3);
  x.col(1).setLinSpaced(-1, 1);
  const Matrix loadings = PrincipalLoadings(x, 3, 1);
  EXPECT_TRUE(loadings.allFinite());
  EXPECT_TRUE(PrincipalLoadings(Matrix::Ones(1, 2), 3, 1).allFinite());
}

struct StartCase {
  std::string name;
  Index N, D, outputs;
  Architecture architecture;
  Start start = Start::kPrincipal;
  bool constant_column = false;
};

const std::vector<StartCase> kStarts = {
    {"OneRow", 1, 2, 1, {.hidden = {2}, .inducing = {5}}},
    {"OneColumn", 20, 1, 1, {.hidden = {1}, .inducing = {5}}},
    {"ConstantColumn", 20, 3, 1, {.hidden = {2}, .inducing = {5}}, Start::kPrincipal, true},
    {"WiderThanItsInputs", 20, 2, 1, {.hidden = {5}, .inducing = {4}}},
    {"ThreeHidden", 30, 3, 2, {.hidden = {3, 2, 4}, .inducing = {6, 5}}},
    {"NoHidden", 30, 3, 2, {.hidden = {}, .inducing = {6}}},
    {"MorePseudoPointsThanRows", 4, 2, 1, {.hidden = {2}, .inducing = {50}}},
    {"Skip", 30, 3, 1, {.hidden = {2, 2}, .inducing = {5}, .skip_links = true}},
    {"Linear", 30, 3, 1, {.hidden = {2, 2}, .inducing = {5}, .linear_mean = true}},
    {"SkipAndLinear",
     30,
     3,
     1,
     {.hidden = {2, 2}, .inducing = {5}, .linear_mean = true, .skip_links = true}},
    {"Shared", 30, 3, 2, {.hidden = {3}, .inducing = {5}, .shared = true}},
    {"Paper", 30, 3, 1, {.hidden = {2}, .inducing = {5}}, Start::kPaper},
    {"PaperShared", 30, 3, 2, {.hidden = {2}, .inducing = {5}, .shared = true}, Start::kPaper},
    {"PaperSites", 30, 3, 1, {.hidden = {2}, .inducing = {5}, .site_form = true}, Start::kPaper},
};

class InitializeCase : public testing::TestWithParam<StartCase> {};
INSTANTIATE_TEST_SUITE_P(Starts, InitializeCase, testing::ValuesIn(kStarts),
                         [](const auto& test) { return test.param.name; });

TEST_P(InitializeCase, GivesASoundModelWithAFiniteEnergy) {
  const StartCase& c = GetParam();
  RandomStream stream(6);
  Matrix values = stream.NormalMatrix(c.N, c.D);
  if (c.constant_column) values.col(1).setZero();
  InitializeOptions options;
  options.start = c.start;
  const DeepGp model = Initialize(c.architecture, options, 1, values, c.outputs);
  EXPECT_NO_THROW(CheckModel(model));
  EXPECT_EQ(model.input_dim(), c.D);
  EXPECT_EQ(model.outputs(), c.outputs);
  ASSERT_EQ(model.num_layers(), static_cast<Index>(c.architecture.hidden.size()) + 1);
  for (std::size_t l = 0; l < c.architecture.hidden.size(); ++l)
    EXPECT_EQ(model.layers[l].outputs(), c.architecture.hidden[l]);
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    const Index wanted = c.architecture.inducing[std::min(l, c.architecture.inducing.size() - 1)];
    for (const SparseGp& gp : model.layers[l].gps) {
      EXPECT_EQ(gp.num_inducing(), std::min(wanted, c.N));
      EXPECT_EQ(std::holds_alternative<Sites>(gp.posterior), c.architecture.site_form);
    }
    if (model.layers[l].shared) {
      for (const SparseGp& gp : model.layers[l].gps) {
        EXPECT_EQ(gp.Z, model.layers[l].gps[0].Z);
        EXPECT_EQ(gp.theta, model.layers[l].gps[0].theta);
      }
    }
  }
  const ThreadPool pool(1);
  const Moments x = Moments::Certain(values);
  const Matrix y = stream.NormalMatrix(c.N, c.outputs);
  const AepEnergy energy(model, x, y, {.alpha = 0.5}, pool);
  DeepGp gradient;
  const EnergyParts parts = energy.Energy(model, AllRows(c.N), &gradient);
  EXPECT_TRUE(std::isfinite(parts.F));
}

TEST_P(InitializeCase, SameSeedSameModel) {
  const StartCase& c = GetParam();
  RandomStream stream(7);
  const Matrix values = stream.NormalMatrix(c.N, c.D);
  InitializeOptions options;
  options.start = c.start;
  DeepGp first = Initialize(c.architecture, options, 1, values, c.outputs);
  DeepGp second = Initialize(c.architecture, options, 1, values, c.outputs);
  EXPECT_EQ(Pack(first, {}), Pack(second, {}));
}

TEST(Initialize, HiddenUnitsBeginAsPrincipalComponents) {
  RandomStream stream(8);
  const Matrix values = stream.NormalMatrix(200, 3);
  const ThreadPool pool(1);
  for (const bool linear : {false, true}) {
    const Architecture architecture{.hidden = {2}, .inducing = {50}, .linear_mean = linear};
    const DeepGp model = Initialize(architecture, {}, 1, values, 1);
    // The first layer alone, as a model of two outputs.
    DeepGp bottom = model;
    bottom.layers.resize(1);
    bottom.layers[0].noise_variance.resize(0);
    bottom.likelihood_parameters = Vector::Constant(2, 0.1);
    const Prediction prediction =
        NetworkPredictor(bottom, pool).Predict(Moments::Certain(values), {.latent = true});
    const Matrix scores = values * PrincipalLoadings(values, 2, 1);
    const double error = (prediction.Mean() - scores).squaredNorm() / scores.squaredNorm();
    EXPECT_LT(error, linear ? 1e-12 : 0.05);
  }
}

TEST(Initialize, GivesUpOnAKernelMatrixThatIsNotFinite) {
  const Matrix x = RandomStream(1).NormalMatrix(20, 2);
  EXPECT_THROW(Initialize({.linear_mean = false}, {.lengthscale = std::nan("")}, 1, x, 1),
               NumericalError);
}

TEST(Initialize, RefusesWhatMakesNoSense) {
  const Matrix x = Matrix::Ones(3, 2);
  EXPECT_THROW(Initialize({.hidden = {0}}, {}, 1, x, 1), Error);
  EXPECT_THROW(Initialize({.inducing = {}}, {}, 1, x, 1), Error);
  EXPECT_THROW(Initialize({.inducing = {0}}, {}, 1, x, 1), Error);
  EXPECT_THROW(Initialize({.kernel = "none"}, {}, 1, x, 1), Error);
  EXPECT_THROW(Initialize({.likelihood = "none"}, {}, 1, x, 1), Error);
}

}  // namespace
}  // namespace fathom
