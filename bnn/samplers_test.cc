// The samplers and the variational fit on a linear network, whose posterior is known.
#include <gtest/gtest.h>

#include <cmath>

#include "bnn/dropout.h"
#include "bnn/hmc.h"
#include "bnn/sgld.h"
#include "bnn/vi.h"
#include "fathom/base/error.h"
#include "fathom/base/linalg.h"
#include "tests/support/dense.h"

namespace fathom::bnn {
namespace {

// y = 0.8 x_1 - 0.5 x_2 + noise of variance 0.09, as the linear network of two inputs.
class LinearNetwork : public testing::Test {
 protected:
  LinearNetwork() {
    RandomStream stream(12);
    rows_ = {stream.NormalMatrix(30, 2), Vector(30)};
    for (Index n = 0; n < 30; ++n)
      rows_.y[n] = 0.8 * rows_.X(n, 0) - 0.5 * rows_.X(n, 1) + 0.3 * stream.Normal();
    H_.resize(30, 3);
    H_ << rows_.X, Vector::Ones(30);
  }

  struct Gaussian {
    Vector mean;
    Matrix precision;
  };
  // Of the weights given all variances.
  Gaussian Posterior(const Vector& prior_variances, double noise) const {
    Gaussian out;
    out.precision = H_.transpose() * H_ / noise;
    out.precision.diagonal() += prior_variances.cwiseInverse();
    out.mean = SolvePositiveDefinite(out.precision, H_.transpose() * rows_.y / noise);
    return out;
  }

  MlpShape shape_{2, {}, Activation::kRelu};
  Rows rows_;
  Matrix H_;  // inputs with the bias
  ThreadPool pool_{2};
  Watch watch_;
};

struct Moment {
  Vector mean, var;
};

Moment MomentsOf(const Matrix& draws) {
  const Vector mean = draws.colwise().mean();
  return {mean, (draws.rowwise() - mean.transpose()).cwiseAbs2().colwise().mean()};
}

// Draws weights from their Gaussian and variances from their inverse gammas in turn: what
// Hamiltonian Monte Carlo must agree with.
TEST_F(LinearNetwork, HmcHasTheMomentsOfAnExactGibbsSampler) {
  constexpr Index kDraws = 20000;
  RandomStream stream(3);
  Matrix exact(kDraws, 3);
  Vector exact_noise(kDraws);
  double v = 0.5;
  double v_bias = 1;
  double noise = 0.1;
  for (Index t = 0; t < kDraws; ++t) {
    const Gaussian posterior = Posterior((Vector(3) << v, v, v_bias).finished(), noise);
    Matrix L = posterior.precision;
    ASSERT_TRUE(CholeskyInPlace(&L));
    const Vector z = DrawWeights(Vector::Ones(3), &stream);
    const Vector w = posterior.mean + L.transpose().triangularView<Eigen::Upper>().solve(z);
    v = Conditional({1, 0.5}, 2, w.head(2).squaredNorm()).Draw(&stream);
    v_bias = Conditional({1, 1}, 1, w[2] * w[2]).Draw(&stream);
    noise = Conditional({1, 0.01}, 30, (rows_.y - H_ * w).squaredNorm()).Draw(&stream);
    exact.row(t) = w;
    exact_noise[t] = noise;
  }
  const HmcOptions options{.chains = 2,
                           .burn_in = 200,
                           .draws = 4000,
                           .least_leapfrogs = 5,
                           .most_leapfrogs = 15,
                           .start_steps = 200,
                           .first_step = 0.2};
  const std::vector<HmcChain> chains = SampleHmc(shape_, rows_, options, 5, pool_, &watch_);
  const PooledDraws pooled = Pool({chains[0].chain, chains[1].chain});
  const Moment found = MomentsOf(pooled.weights);
  const Moment expected = MomentsOf(exact);
  for (Index i = 0; i < 3; ++i) {
    EXPECT_NEAR(found.mean[i], expected.mean[i], 0.1 * std::sqrt(expected.var[i]));
    EXPECT_NEAR(found.var[i] / expected.var[i], 1, 0.1);
  }
  EXPECT_NEAR(pooled.noise.mean() / exact_noise.mean(), 1, 0.05);
  for (const HmcChain& chain : chains) {
    EXPECT_GT(chain.acceptance, 0.6);
    // In three dimensions the steps are so long that a small noise makes some unstable.
    EXPECT_LT(chain.divergences, 400);
  }
  EXPECT_LT(AgreementOfOutputs(shape_, {chains[0].chain, chains[1].chain}, rows_.X).worst_rhat,
            1.02);
}

// The posterior of kappa is one-dimensional: a sum over a grid of it is exact.
TEST_F(LinearNetwork, SgldHasTheMomentsOfTheExactPosterior) {
  const Vector prior = shape_.FanInVariances();
  double total = 0;
  Vector mean = Vector::Zero(3);
  Vector square = Vector::Zero(3);
  for (double kappa = -6; kappa < 1; kappa += 0.02) {
    const double s2 = Softplus(kappa);
    Matrix covariance = H_ * prior.asDiagonal() * H_.transpose();
    covariance.diagonal().array() += s2;
    const double quadratic = rows_.y.dot(SolvePositiveDefinite(covariance, rows_.y));
    ASSERT_TRUE(CholeskyInPlace(&covariance));
    const double weight =
        std::exp(-0.5 * (LogDeterminant(covariance) + quadratic + kappa * kappa / 9));
    const Gaussian posterior = Posterior(prior, s2);
    const Matrix inverse = Inverse(posterior.precision);
    total += weight;
    mean += weight * posterior.mean;
    square += weight * (posterior.mean.cwiseAbs2() + inverse.diagonal());
  }
  mean /= total;
  const Vector var = square / total - mean.cwiseAbs2();
  SgldOptions options{.steps = 60000, .draws = 10000, .chains = 2, .start_steps = 500};
  options.step = 0.05;
  const std::vector<Chain> chains = SampleSgld(shape_, rows_, options, 4, pool_, &watch_);
  ASSERT_EQ(chains.size(), 2U);
  const Moment found = MomentsOf(Pool(chains).weights);
  for (Index i = 0; i < 3; ++i) {
    EXPECT_NEAR(found.mean[i], mean[i], 0.12 * std::sqrt(var[i]));
    EXPECT_NEAR(found.var[i] / var[i], 1, 0.15);  // and a bias of the order of the step
  }
}

TEST_F(LinearNetwork, SgldThatDivergesIsNoChain) {
  SgldOptions options{.steps = 2000, .draws = 100, .start_steps = 300};
  options.step = 10;
  Job job("chain", &watch_);
  EXPECT_FALSE(SampleSgldChain(shape_, rows_, options, 4, &job).has_value());
}

// Of a linear model: the exact mean, and one over the diagonal of the exact precision.
TEST_F(LinearNetwork, VariationalFitIsTheMeanFieldOptimum) {
  const Gaussian posterior = Posterior(Vector::Ones(3), 0.2);
  for (const ViForm form : {ViForm::kLocal, ViForm::kWeight, ViForm::kGraves}) {
    ViOptions options{.form = form, .steps = 8000, .noise_variance = 0.2};
    options.curvature = Curvature::kGaussNewton;
    const ViResult result = FitVi(shape_, rows_, options, 3, &watch_);
    for (Index i = 0; i < 3; ++i) {
      EXPECT_NEAR(result.q.mu[i], posterior.mean[i], 0.01);
      EXPECT_NEAR(result.q.Sd()[i] * std::sqrt(posterior.precision(i, i)), 1, 0.03);
    }
    EXPECT_EQ(result.q.lambda, std::log(0.2));
    EXPECT_TRUE(result.trend.Settled());
  }
}

TEST(LossTrend, IsTheChangeBeforeTheRateFalls) {
  RandomStream stream(7);
  Vector losses(4000);
  for (Index i = 0; i < 4000; ++i) losses[i] = 0.2 * stream.Normal() - (i > 2000 ? 1 : 0);
  const LossTrend flat = TrendOf(losses);
  EXPECT_TRUE(flat.Settled());
  EXPECT_NEAR(flat.error, 0.2 * std::sqrt(2.0 / 200), 0.01);
  losses.segment(1800, 200).array() -= 0.5;
  EXPECT_NEAR(TrendOf(losses).change, -0.5, 3 * flat.error);
  EXPECT_FALSE(TrendOf(losses).Settled());
  EXPECT_TRUE(std::isnan(TrendOf(losses.head(199)).change));
}

TEST_F(LinearNetwork, AStoppedFitEndsAtOnce) {
  int calls = 0;
  Watch watch([&](double) { return ++calls < 5; });
  EXPECT_EQ(FitVi(shape_, rows_, {.steps = 1000}, 3, &watch).steps, 5);
  EXPECT_TRUE(watch.stopped());
  const HmcOptions options{.chains = 1};
  EXPECT_EQ(SampleHmc(shape_, rows_, options, 5, pool_, &watch)[0].chain.size(), 0);
}

TEST(Dropout, PrecisionIsThatOfTheResiduals) {
  RandomStream stream(1);
  Passes passes{Matrix::Zero(1, 2000), Vector(2000)};
  for (double& y : passes.y) y = 0.1 * stream.Normal();
  const PrecisionChoice choice = ChoosePrecision({passes});
  const double squares = passes.y.squaredNorm() / 2000;
  EXPECT_NEAR(choice.precision * squares, 1, 1e-3);
  EXPECT_NEAR(choice.log_likelihood, -0.5 * (std::log(2 * M_PI * squares) + 1), 1e-6);
}

TEST(Dropout, ThinnedWeightsAreAPassWithThoseUnitsDropped) {
  const MlpShape shape(4, {6}, Activation::kRelu);
  RandomStream stream(1);
  const Vector w = DrawWeights(Vector::Ones(shape.num_weights()), &stream);
  const Matrix X = stream.NormalMatrix(3, 4);
  RandomStream masks(9);
  const Vector thinned = ThinnedWeights(shape, w, 0.4, &masks);
  InputFactors factors;
  for (Index l = 0; l < 2; ++l) {
    // A column of the thinned layer over that of the whole one is the factor of its input.
    const Vector factor = shape.Layer(thinned, l).row(0).cwiseQuotient(shape.Layer(w, l).row(0));
    EXPECT_EQ(factor[factor.size() - 1], 1);  // the bias
    factors.push_back(factor.head(shape.fan_in(l)).transpose().replicate(3, 1));
  }
  MlpTape tape;
  MlpForward({shape, w}, X, &tape, &factors);
  EXPECT_LT((MlpOutputs({shape, thinned}, X) - tape.f).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_EQ(ThinnedWeights(shape, w, 0, &masks), w);
}

}  // namespace
}  // namespace fathom::bnn
